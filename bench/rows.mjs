/** The rows of the table: what is measured, and how many times the limit it may take. */
export const rows = {
  decode: { title: '`decode` of `authkernel/jwt`', times: 2 },
  'decode, last of 5': { title: '`decode`, token of the last of 5 secrets', limit: 'decode', times: 2 },
  encode: { title: '`encode`', times: 2 },
  getToken: { title: '`getToken`', times: 2 },
  'csrf, none': { title: '`GET /csrf` without a cookie', times: 2 },
  'csrf, cookie': { title: '`GET /csrf` with its cookie', times: 2 },
  'sign-in page': { title: '`GET /signin`, 5 ways to sign in', times: 2.5 },
  credentials: { title: '`POST /callback/credentials`', times: 2.5 },
  oidc: { title: 'sign-in by OpenID Connect, both requests', times: 1.6 },
  'jwt handler': { title: 'jwt session, `Request` to `Response`', times: 1.25 },
  'jwt session': { title: '`auth.session`, jwt', times: 1.4 },
  'jwt session, forged': { title: '`auth.session`, a forged cookie', limit: 'jwt session', times: 1.4 },
  'jwt session, foreign': { title: '`auth.session`, a foreign cookie of 3,800 bytes', limit: 'jwt session', times: 1.4 },
  'database handler': { title: 'database session, `Request` to `Response`', times: 2 },
  'database session': { title: '`auth.session`, database over a Map', times: 4 },
  express: { title: '`auth.express.session(req)`, no socket', times: 2 },
}
