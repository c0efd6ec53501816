/** docs/speed.md, made of figures.json: `--write` of a run replaces its part of the figures, and the page is written anew. */
import { readFileSync, writeFileSync } from 'node:fs'
import { rows } from './rows.mjs'
import { scales } from './scale/page.mjs'
import { directories } from './scale/scim/page.mjs'

const file = new URL('figures.json', import.meta.url)
const page = new URL('../docs/speed.md', import.meta.url)

/** `part`: `rows`, `weight`, `scale` or `scim`. */
export function save(part, figures) {
  const all = { ...known(), [part]: figures }
  writeFileSync(file, `${JSON.stringify(all, undefined, 2)}\n`)
  writeFileSync(page, render(all))
}

/** The figures of the last runs. */
export function known() {
  return JSON.parse(readFileSync(file, 'utf8'))
}

/** The whole page. */
export function render({ rows: measured, weight, scale, scim }) {
  return [
    '# Speed and weight',
    '',
    'What authkernel costs beside [Auth.js](https://authjs.dev) (`@auth/core` 0.41.3) and better-auth 1.7.25. `bench/` writes this page:',
    '',
    '```sh',
    'npm run build && npm ci --prefix bench',
    'npm run bench --prefix bench -- --write',
    'npm run scale --prefix bench -- --write',
    '```',
    '',
    ...requests(measured),
    ...(weight ? weights(weight) : []),
    ...(scale ? scales(scale) : []),
    ...(scim ? directories(scim) : []),
    why,
  ].join('\n')
}

function requests({ node, cores, load, inFlight, rounds, rows: measured }) {
  return [
    '## Requests',
    '',
    `Node ${node}, ${cores} cores, load ${load.toFixed(1)} at the beginning, ${inFlight} in flight, ${rounds} rounds. Each contestant has its own process, and they take turns. The`,
    'figures are µs of CPU time of all threads per operation, the lower decile of the turns: other programs slow some turns, none makes one faster. Ratios travel',
    'better than durations.',
    '',
    '- "Limit" is the work itself, written manually: synchronous `node:crypto` without a framework and without checks beyond the necessary, openid-client for the provider.',
    '- "Wanted" is what the project aims at, as a multiple of the limit or in µs. **Bold**: not reached.',
    '- "Jobs" are crypto jobs of the thread pool per operation, counted as they come back.',
    '- "Database" is a `Map` behind an adapter, and a provider is a function: the library is measured, no server. better-auth has its own memory adapter.',
    '- In brackets: how many times the CPU time of authkernel. Empty: the library has nothing of the kind. better-auth reads sessions from its encrypted cookie cache where authkernel has jwt sessions.',
    '',
    '| operation | authkernel | jobs | limit | × limit | wanted | Auth.js | better-auth |',
    '|---|---|---|---|---|---|---|---|',
    ...Object.entries(measured).map(([name, row]) => line(name, row)),
    '',
  ]
}

function line(name, { authkernel, limit, authjs, 'better-auth': better }) {
  const { title, times, micros } = rows[name]
  const ratio = limit && authkernel.cpu / limit.cpu
  const shown = ratio?.toFixed(2) ?? ''
  const beside = (other) => (other ? `${number(other.cpu)} (${number(other.cpu / authkernel.cpu)})` : '')
  const missed = micros === undefined ? ratio > times : authkernel.cpu > micros
  const cells = [title, number(authkernel.cpu), authkernel.jobs, limit ? number(limit.cpu) : '', missed ? `**${shown}**` : shown]
  return `| ${[...cells, micros === undefined ? `≤ ${times}` : `≤ ${micros} µs`, beside(authjs), beside(better)].join(' | ')} |`
}

function weights({ bundles, kernels, packages, imports }) {
  const names = ['authkernel', 'limit', 'authjs', 'better-auth']
  const row = (title, of) => `| ${[title, ...names.map((name) => of(name) ?? '')].join(' | ')} |`
  const kilobytes = ({ first, whole }) => `${first.toFixed(0)} / ${whole.toFixed(0)}`
  return [
    '## Weight',
    '',
    'Bundles by esbuild, minified, each file compressed by gzip: KB that are loaded before the first request, and KB in one file. "Limit" is jose and oauth4webapi alone.',
    '`test/package/loading.test.ts` holds these sizes, and the files that each entry loads. Imports are ms of CPU time over an empty process.',
    '',
    '| | authkernel | limit | Auth.js | better-auth |',
    '|---|---|---|---|---|',
    row('one provider of OpenID Connect, KB first / in one file', (name) => kilobytes(bundles[name])),
    ...Object.entries(kernels).map(([title, size]) =>
      row(`${title}, KB first / in one file`, (name) => (name === 'authkernel' ? kilobytes(size) : '')),
    ),
    row('packages, itself included', (name) => packages[name]),
    ...(imports ? [row(`import, ms (empty process: ${imports.empty.toFixed(0)})`, (name) => imports[name].toFixed(0))] : []),
    '',
  ]
}

function number(value) {
  return value < 100 ? value.toFixed(1) : value.toFixed(0)
}

const why = `## Why

- **No thread pool.** Web Crypto sends every operation to the thread pool and A256CBC-HS512 needs five. On Node \`src/keys/ciphers.ts\` does the same over \`node:crypto\`,
  synchronously: one HMAC and one decipher over a few hundred bytes take less time than one hop. It asks \`process.getBuiltinModule\` once, when the kernel is made, and tries
  it; where that fails, Web Crypto does the work, and tokens of either open with the other.
- **ID tokens** are verified by jose the first time: it decides whether the header and the key may be used. Later tokens with the same protected header are verified over
  \`node:crypto\` with the key that was imported then (\`plugins/sign-in/oauth/keys.ts\`), until the key set is fetched again.
- **Keys are derived once** per (secret, purpose) and found by the token's protected header, which is the same text in every token under a key. Only a header that another
  party wrote is parsed. Hence the number of secrets does not matter.
- **No re-encryption** of a token that is young and unchanged.
- **One asynchronous path.** A second, synchronous way through a session read took less CPU time, and had every function twice: 19 instead of 23 µs for a session in a
  cookie, 62 instead of 74 µs for the route of it, and the same for a session in a store.
- **Settings, cookie names and hooks are settled at compile**, not per request; providers are looked at only by requests that name one.
- **No Response and no Request without need.** On Node one with a body costs 20 µs: the answer of a token endpoint is read once and handed on as bytes.

## What tests hold

No test asserts a duration. Tests hold counts, which the load of a machine does not move: \`test/kernel/thread-pool.test.ts\` and \`test/plugins/oidc-signature.deep.test.ts\` (no job of
the thread pool and no call of \`crypto.subtle\` in a session read, in \`encode\` and \`decode\`, for a forged token, for a later ID token),
\`test/package/loading.test.ts\` (files, libraries and bytes), \`test/adapters/queries.test.ts\` (queries, each by an index).

Not done: keeping opened tokens in memory. It would save the cryptography of the second read, and keep what cookies say of users in memory after their requests.
Where a page only needs the session, ask \`auth.session\` and not the route: a \`Request\`, a \`Response\` and its \`text()\` cost more than the read.
`
