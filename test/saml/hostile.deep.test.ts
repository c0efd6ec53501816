/** Hostile responses: none signs in, none makes a user, none is a 5xx, none takes more than 200 ms of CPU. */
import { afterAll, describe, expect, it } from 'vitest'
import { Client } from '../_setup.ts'
import { hostileCases as formerCases } from './_hostile.ts'
import { hostileCases2025 } from './_hostile-2025.ts'
import { begin, type Host, postEncoded, samlHost, signIn } from './_idp.ts'

const host: Host = samlHost()
const hostileCases = [...formerCases, ...hostileCases2025]

/** What a case that is no attack left behind must not fail the others. */
function forget(): void {
  host.data.users.clear()
  host.data.accounts.clear()
}

describe('a hostile response', () => {
  let worst = 0
  afterAll(async () => {
    // Else the corpus would prove nothing: a good response still signs in at this host.
    forget()
    const client = new Client(host.auth)
    await signIn(host, client)
    expect((await client.session())?.user).toMatchObject({ email: 'ada@acme.example' })
    expect(hostileCases.length).toBeGreaterThan(150)
    expect(new Set(hostileCases.map(([name]) => name)).size).toBe(hostileCases.length)
    expect(worst).toBeGreaterThan(0)
  })

  it.each(hostileCases)('%s', async (_, make) => {
    forget()
    const client = new Client(host.auth)
    const { id: request } = await begin(client)
    const made = make({ now: host.runtime.now(), request })
    const encoded = Buffer.from(made as string).toString('base64')
    const before = process.cpuUsage()
    const answer = await postEncoded(client, encoded)
    const { user, system } = process.cpuUsage(before)
    worst = Math.max(worst, user + system)
    expect(await client.session()).toBeNull()
    expect(answer.status).toBeLessThan(500)
    expect(answer.headers.get('location') ?? '/error').toMatch(/error/)
    expect(host.data.users.size).toBe(0)
    expect((user + system) / 1000).toBeLessThan(200)
  })
})
