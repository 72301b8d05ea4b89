export * from '../../local/upstream/script.ts';
