// The provider sends the browser here. The answer goes on to the page that was left, in the part of its address that no
// server sees; without one, to the first page.
const kept = sessionStorage.getItem('company-sign-in');
const { page = '../../cli' } = kept === null ? {} : JSON.parse(kept);
location.replace(new URL(`${page}#${location.search.slice(1)}`, location.href));
