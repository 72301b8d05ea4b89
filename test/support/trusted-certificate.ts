import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { makeCertificate } from '../../local/certificate.ts';

/** A certificate for 127.0.0.1 that this process trusts until it is disposed of. */
export function trustCertificate() {
  const before = getCACertificates('default');
  const certificate = makeCertificate();
  setDefaultCACertificates([...before, certificate.cert]);
  return { ...certificate, [Symbol.dispose]: () => setDefaultCACertificates(before) };
}
