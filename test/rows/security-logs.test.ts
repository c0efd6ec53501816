/** I4: no token in a log. Drivers like to repeat the statement with its parameters. */
import type { Adapter } from 'authkernel'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { describe, expect, it } from 'vitest'
import { Client } from '../_setup.ts'
import { createWorld } from './_world.ts'

const talkative = (adapter: Adapter, method: keyof Adapter): Adapter => ({
  ...adapter,
  [method]: (...args: unknown[]) => {
    throw new Error(`insert failed, params: ${JSON.stringify(args)}`)
  },
})
/** All that could be printed of an error. */
const printed = (error: unknown): string =>
  error instanceof Error
    ? `${error.name} ${error.message} ${error.stack} ${JSON.stringify(error)} ${printed(error.cause)}`
    : printedFacts(error)
const printedFacts = (facts: unknown): string =>
  typeof facts === 'object' && facts !== null ? Object.values(facts).map(printed).join(' ') : String(facts)

describe('an error of the driver that names the parameters', () => {
  it('keeps session tokens, mail tokens and tokens of providers out of the log, and says the rest', async () => {
    const world = createWorld('database', 'whole', { adapter: talkative(memoryAdapter(), 'createSession') })
    const token = '11111111-2222-4333-8444-555555555555'
    world.options.logger.errors.length = 0
    const { auth } = createWorld('database', 'whole', {
      adapter: talkative(memoryAdapter(), 'getSessionAndUser'),
      logger: world.options.logger,
    })
    const client = new Client(auth)
    client.cookies.set('authkernel.session-token', token)
    expect((await client.get('/session')).status).toBe(503)
    expect(world.options.logger.errors).toHaveLength(1)
    expect(printed(world.options.logger.errors[0])).toContain('insert failed')
    expect(printed(world.options.logger.errors[0])).not.toContain(token)
  })

  it('accounts', async () => {
    const world = createWorld('database', 'whole', { adapter: talkative(memoryAdapter(), 'createUserWithAccount') })
    const response = await world.client.get(await world.toProvider('oidc'))
    expect(response.headers.get('location')).toContain('error=')
    const log = world.options.logger.errors.map(printed).join('\n')
    expect(log).toContain('insert failed')
    expect(log).toContain('ann-at-op')
    expect(log).not.toMatch(/"(?:at|rt)-code|eyJ/)
  })

  it('links in a mail', async () => {
    const world = createWorld('database', 'whole', { adapter: talkative(memoryAdapter(), 'useVerificationToken') })
    await world.client.post('/signin/mail', { email: 'ann@example.com' })
    await world.client.get(world.mails[0]?.url ?? '')
    const log = world.options.logger.errors.map(printed).join('\n')
    expect(log).toContain('insert failed')
    expect(log).not.toMatch(/[0-9a-f]{64}/)
  })
})
