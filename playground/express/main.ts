/** `npm run dev`: the app, an OpenID Provider and a mail server on 127.0.0.1. Ctrl-C ends them. */
import { startPlayground } from './start.ts'

const playground = await startPlayground({
  port: Number(process.env.PORT ?? 3000),
  opPort: Number(process.env.OP_PORT ?? 3001),
  strategy: process.env.AUTH_STRATEGY === 'database' ? 'database' : 'jwt',
  store: process.env.AUTH_STORE,
})
console.log(`
  authkernel playground

  Open      ${playground.url}
  Provider  ${playground.issuer}
  Sessions  ${playground.strategy}  (AUTH_STRATEGY=jwt|database)
  Data      ${playground.store}

  Ctrl-C ends everything.
`)

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    // A second signal ends at once.
    process.once(signal, () => process.exit(1))
    void playground.close().then(() => process.exit(0))
  })
}
