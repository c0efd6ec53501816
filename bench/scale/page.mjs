/** The section "Scale" of docs/speed.md. */
const names = { authkernel: 'authkernel', authjs: 'Auth.js', 'better-auth': 'better-auth' }
const operations = { read: 'session read', 'sign-up': 'sign-up by OpenID Connect', return: 'sign-in of a known user' }

/** As lines. */
export function scales({ node, cores, load, users, sessions, reads, plans, queries, express, cleanup }) {
  return [
    '## Scale',
    '',
    `${count(users)} users with an account each and ${count(sessions)} sessions; PostgreSQL and Redis on the same machine. Node ${node}, ${cores} cores, load ${load.toFixed(1)} at the beginning.`,
    '',
    ...(express ? throughExpress(express) : []),
    ...adapters(reads, queries),
    `\`EXPLAIN\` of the reads of authkernel: ${plans.join('; ')}. The run fails where a table is read from end to end.`,
    '`test/adapters/queries.test.ts` holds the queries of a session read (1), of a sign-up at a provider (at most 9, on PostgreSQL 5) and of a return (5, on PostgreSQL 3).',
    '',
    ...(cleanup ? cleaning(cleanup) : []),
  ]
}

function throughExpress(express) {
  return [
    '### Through Express',
    '',
    'Express 5 over HTTP on the loopback, connections that stay open, one process per contestant, in turn. `expressBinding` with the SQL adapter or unstorage on Redis; `@auth/express` with',
    '`@auth/pg-adapter` or `@auth/unstorage-adapter`; `toNodeHandler` of better-auth over its own tables, in the Redis rows with Redis as its secondary storage: sessions are there, users in PostgreSQL.',
    'A session read is `GET /auth/session` with a database session. A sign-in is two requests: to the provider, and back from it. All three sign in by OpenID Connect with code and PKCE; the provider',
    'is a function in the process of the server, whose ID tokens are signed before the turn. Throttling is off: all requests come from one address. The process that sends the requests, the',
    'servers and the databases share the cores: CPU is µs of the server process per operation, and says more than what a second holds. In brackets: how many times authkernel.',
    '',
    `| operation | store | in flight | ${Object.values(names)
      .flatMap((name) => [`${name}, per second`, 'CPU'])
      .join(' | ')} |`,
    `|---|---|---|${'---|'.repeat(Object.keys(names).length * 2)}`,
    ...Object.keys(operations).flatMap((operation) =>
      Object.entries(express).flatMap(([store, figures]) =>
        Object.entries(figures[operation]).map(
          ([inFlight, row]) => `| ${[operations[operation], store, inFlight, ...cells(row)].join(' | ')} |`,
        ),
      ),
    ),
    '',
    `Queries in PostgreSQL, \`begin\` and \`commit\` included: ${Object.entries(operations)
      .map(([operation, title]) => `${title} ${countsOf(express.PostgreSQL.queries[operation])}`)
      .join('; ')}.`,
    '',
  ]
}

function cells(row) {
  const beside = (value, own, digits) => `${value.toFixed(digits)} (${(value / own).toFixed(2)})`
  return Object.keys(names).flatMap((name) => {
    const { perSecond, cpu } = row[name]
    if (name === 'authkernel') return [perSecond.toFixed(0), cpu.toFixed(0)]
    return [beside(perSecond, row.authkernel.perSecond, 0), beside(cpu, row.authkernel.cpu, 0)]
  })
}

function countsOf(counts) {
  return Object.entries(names)
    .map(([name, title]) => `${title} ${counts[name]}`)
    .join(', ')
}

function adapters(reads, queries) {
  const contestants = Object.keys(Object.values(reads)[0])
  return [
    '### Through the adapter alone',
    '',
    'Session reads per second in one process and in the same rounds, each over its own ten connections; in brackets: how many times those of `@auth/pg-adapter`. "pg alone" is the limit: one',
    'prepared statement, and the rows as they come.',
    '',
    `| in flight | ${contestants.join(' | ')} |`,
    `|---|${contestants.map(() => '---|').join('')}`,
    ...Object.entries(reads).map(([inFlight, row]) => {
      const base = row['@auth/pg-adapter'].perSecond
      const cell = ({ perSecond }) => `${Math.round(perSecond)} (${(perSecond / base).toFixed(2)})`
      return `| ${inFlight} | ${contestants.map((name) => cell(row[name])).join(' | ')} |`
    }),
    '',
    `Queries per session read: ${Object.entries(queries)
      .map(([name, many]) => `${name} ${many}`)
      .join(', ')}.`,
  ]
}

function cleaning({ removed, seconds, megabytes, oneStatement, operations, median, worst }) {
  return [
    `Clean-up of ${count(removed)} sessions that have ended: ${seconds.toFixed(1)} s in batches, ${megabytes.toFixed(0)} MB of memory; one statement, which locks all rows until its end, takes ${oneStatement.toFixed(1)} s.`,
    `Meanwhile ${count(operations)} sessions were made, read and extended: ${median.toFixed(1)} ms each, the longest ${worst.toFixed(0)} ms.`,
    '',
  ]
}

function count(number) {
  return number.toLocaleString('en')
}
