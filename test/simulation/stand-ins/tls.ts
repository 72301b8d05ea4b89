export { connect } from './net.ts';
