/** Who may become a user: one guard for every sign-in method, invitations that are used once, the waitlist, and lists of addresses. */
import { describe, expect, it } from 'vitest'
import type { Plugin } from 'authkernel/kernel'
import { admissionPlugin } from 'authkernel/plugins/admission'
import { Client } from '../_setup.ts'
import { settle } from '../_settle.ts'
import { ada, errorOf, good, system, type WayIn, waysIn, world } from './_admission.ts'

const ways = Object.keys(waysIn) as WayIn[]
const nothing = [0, 0, 0, 0, 0]

describe.each(['jwt', 'database'] as const)('under the %s strategy', (strategy) => {
  const config = { session: { strategy, ...(strategy === 'jwt' && { revocable: true }) } }
  describe.each(['first', 'last'] as const)('used %s', (order) => {
    it.each(ways)('a visitor without an invitation leaves nothing behind: %s', async (way) => {
      const app = await world({}, { config, order })
      const client = await app.browser()
      const answer = await waysIn[way](app, client)
      expect(answer.status).toBeLessThan(500)
      expect(await client.session()).toBeNull()
      expect(app.left()).toEqual(nothing)
    })

    it.each(ways.filter((way) => way !== 'guest'))('a code lets one visitor in: %s', async (way) => {
      const app = await world({}, { config, order })
      const { code, id } = await app.auth.admission.invite(system)
      const client = await app.browser(code)
      await waysIn[way](app, client)
      expect(await client.session()).not.toBeNull()
      expect(app.data.users.size).toBe(1)
      const { invitations } = await app.auth.admission.listInvitations(system)
      expect(invitations.map(({ left }) => left)).toEqual([0])
      const rows = await (await app.rows()).records('admittedUser').find()
      expect(rows.rows.map(({ invitationId, userId }) => [invitationId, userId])).toEqual([[id, [...app.data.users.keys()][0]]])
      // The next visitor is too late.
      const late = await app.browser(code)
      app.mails.length = app.texts.length = 0
      await waysIn.vendor(app, late, 'late@example.com')
      expect([await late.session(), app.data.users.size]).toEqual([null, 1])
    })
  })

  it('a user who is there signs in without an invitation, and links what is new', async () => {
    const app = await world({}, { config })
    await app.adapter.createUser!({ id: 'ada', email: ada, name: null, emailVerified: new Date(0) })
    const client = await app.browser()
    await waysIn.code(app, client)
    expect((await client.session())?.user?.['email']).toBe(ada)
    await waysIn.vendor(app, client, 'other@vendor.example')
    expect([app.data.users.size, app.data.accounts.size]).toEqual([1, 1])
  })
})

describe('what a refused visitor learns', () => {
  it('the same answer as for a user: asking for codes, links and registrations', async () => {
    const app = await world({ block: { domains: ['blocked.example'] }, allow: { domains: ['allowed.example'] } })
    await app.adapter.createUser!({ id: 'ada', email: ada, name: null, emailVerified: new Date(0) })
    const seen = async (path: string, address: string, more = {}) => {
      const client = new Client(app.auth)
      const response = await client.post(path, { email: address, ...more })
      return [response.status, response.headers.get('location'), [...client.cookies.keys()].toSorted()]
    }
    const asks = { '/signin/codes': {}, '/signin/email': {}, '/passwords/sign-up': { password: good } }
    for (const [path, more] of Object.entries(asks)) {
      const answers = [ada, 'new@example.com', 'x@blocked.example', 'x@allowed.example'].map((address) => seen(path, address, more))
      const [known, ...others] = await Promise.all(answers)
      for (const other of others) expect(other).toEqual(known)
    }
  })

  it('one error for every reason, on the sign-in page, in words', async () => {
    const app = await world({ block: { addresses: ['mallory@example.com'] } })
    for (const address of ['mallory@example.com', 'new@example.com']) {
      const response = await waysIn.vendor(app, await app.browser(), address)
      expect([errorOf(response), response.headers.get('location')]).toEqual(['AdmissionRefused', expect.stringContaining('/auth/signin?')])
    }
    const page = await (await new Client(app.auth).get('/signin?error=AdmissionRefused')).text()
    expect(page).toContain('You cannot sign up with this.')
    expect(page).toContain('/auth/admission')
  })
})

describe('an invitation between two steps', () => {
  it('revoked while the mail was under way: no user', async () => {
    const app = await world()
    const { code, id } = await app.auth.admission.invite(system)
    const client = await app.browser(code)
    await client.post('/signin/codes', { email: ada })
    await settle()
    expect(app.mails).toHaveLength(1)
    expect([await app.auth.admission.revoke(system, id), await app.auth.admission.revoke(system, id)]).toEqual([true, false])
    const typed = /^\s*(\d{6})\s*$/m.exec(app.mails[0]!.text)![1]!
    const answer = await client.post('/callback/codes', { code: typed })
    expect([errorOf(answer), await client.session(), app.data.users.size]).toEqual(['AdmissionRefused', null, 0])
  })

  it('the mail may be opened in a browser that never saw the code', async () => {
    const app = await world()
    const { code } = await app.auth.admission.invite(system)
    await (await app.browser(code)).post('/signin/email', { email: ada })
    await settle()
    const other = await app.browser()
    await other.get(/\/auth(\/\S+)/.exec(app.mails[0]!.text)![1]!)
    expect((await other.session())?.user?.['email']).toBe(ada)
    // The pass was for that address.
    expect(await (await app.rows()).records('admissionPass').count()).toBe(0)
  })

  it('two visitors and one use: one of them comes in', async () => {
    const app = await world()
    const { code } = await app.auth.admission.invite(system)
    const clients = await Promise.all(Array.from({ length: 6 }, () => app.browser(code)))
    await Promise.all(clients.map((client, at) => waysIn.vendor(app, client, `v${at}@example.com`)))
    const sessions = await Promise.all(clients.map((client) => client.session()))
    expect([sessions.filter(Boolean).length, app.data.users.size]).toEqual([1, 1])
  })

  it('a use is given back when no user was made', async () => {
    const stops: Plugin = { name: 'stops', setup: (kernel) => void kernel.hook('createUser', ({ final }) => !final || calls++ > 0) }
    let calls = 0
    for (const order of ['first', 'last'] as const) {
      calls = 0
      const app = await world({}, { order, more: [stops] })
      const { code } = await app.auth.admission.invite(system)
      const client = await app.browser(code)
      await waysIn.vendor(app, client)
      const left = async () => (await app.auth.admission.listInvitations(system)).invitations.map((one) => one.left)
      expect([await client.session(), await left(), app.data.users.size]).toEqual([null, [1], 0])
      await waysIn.vendor(app, client)
      expect([await left(), app.data.users.size]).toEqual([[0], 1])
    }
  })

  it('a store that fails gives the use back too', async () => {
    const app = await world()
    const { code } = await app.auth.admission.invite(system)
    const client = await app.browser(code)
    const { createUserWithAccount: inner } = app.adapter
    app.adapter.createUserWithAccount = () => Promise.reject(new Error('the disk is full'))
    await waysIn.vendor(app, client)
    expect((await app.auth.admission.listInvitations(system)).invitations[0]?.left).toBe(1)
    app.adapter.createUserWithAccount = inner
    await waysIn.vendor(app, client)
    expect(await client.session()).not.toBeNull()
  })

  it('ends with its time', async () => {
    const app = await world()
    const { code } = await app.auth.admission.invite(system, { expiresIn: 60 })
    const client = await app.browser(code)
    app.base.runtime.advance(61_000)
    await waysIn.vendor(app, client)
    expect(await client.session()).toBeNull()
  })
})

describe('an invitation for one address', () => {
  it('counts for its owner without the link, and for no other address', async () => {
    const app = await world()
    await app.auth.admission.invite(system, { email: 'Ada@Example.com' })
    await settle()
    expect(app.mails.map(({ to, text }) => [to, /\/auth\/admission\/invitation\?code=[0-9A-Z-]{19}/.test(text)])).toEqual([[ada, true]])
    const other = await app.browser()
    await waysIn.vendor(app, other, 'bob@example.com')
    expect(await other.session()).toBeNull()
    const client = await app.browser()
    await waysIn.vendor(app, client)
    expect(await client.session()).not.toBeNull()
    // Nothing about the address stays: the user has it now.
    expect((await app.auth.admission.listInvitations(system)).invitations).toEqual([])
  })

  it('an address that is only typed does not use it, unless the link was opened', async () => {
    const app = await world()
    const { code, url } = await app.auth.admission.invite(system, { email: ada, mail: false })
    expect(app.mails).toEqual([])
    await waysIn.passkey(app, await app.browser())
    expect(app.data.users.size).toBe(0)
    const client = await app.browser()
    const opened = await client.get(new URL(url).pathname.slice(5) + new URL(url).search)
    expect([opened.status, opened.headers.get('location'), opened.headers.get('referrer-policy')]).toEqual([
      302,
      'http://localhost:3000/auth/admission',
      'no-referrer',
    ])
    expect([...client.cookies.values()].join()).not.toContain(code.replaceAll('-', ''))
    expect(await (await client.get('/admission')).text()).toContain('Your invitation works')
    await waysIn.passkey(app, client)
    expect(app.data.users.size).toBe(1)
  })
})

describe('lists', () => {
  it('compare canonical addresses, with subdomains and international names', async () => {
    const app = await world({
      allow: { domains: ['acme.example', '*.team.example'], addresses: ['Guest@Other.example'] },
      block: { domains: ['bücher.example'], addresses: ['mallory@acme.example'], disposable: (domain) => domain === 'xn--wrf-0ka.example' },
    })
    const check = (address: string) => app.auth.admission.check(system, address)
    expect([await check('a@ACME.example'), await check('a@sub.acme.example'), await check('a@evil-acme.example')]).toEqual([
      true,
      false,
      false,
    ])
    expect([await check('a@x.team.example'), await check('a@team.example'), await check('guest@other.example')]).toEqual([true, true, true])
    expect([await check('mallory@acme.example'), await check('mallory+1@acme.example')]).toEqual([false, false])
    const open = await world({ mode: 'open', block: { domains: ['bücher.example'], disposable: (domain) => domain === 'trash.example' } })
    const may = (address: string) => open.auth.admission.check(system, address)
    expect([await may('a@xn--bcher-kva.example'), await may('a@mail.bücher.example'), await may('a@buecher.example')]).toEqual([
      false,
      false,
      true,
    ])
    expect([await may('a@trash.example'), await may('a@fine.example')]).toEqual([false, true])
    await expect(may('none')).rejects.toThrow('no mail address')
  })

  it('an allowed address counts when it is verified, and a blocked one also with an invitation', async () => {
    const app = await world({ allow: { domains: ['acme.example'] }, block: { domains: ['blocked.example'] } })
    const client = await app.browser()
    await client.post('/callback/vendor', { sub: '1', email: 'a@acme.example' })
    expect(await client.session()).toBeNull()
    await client.post('/callback/vendor', { sub: '1', email: 'a@acme.example', verified: '1' })
    expect(await client.session()).not.toBeNull()
    const { code } = await app.auth.admission.invite(system)
    const blocked = await app.browser(code)
    await waysIn.vendor(app, blocked, 'x@blocked.example')
    expect(await blocked.session()).toBeNull()
  })

  it('by option, a blocked user who is there loses access', async () => {
    for (const blockExisting of [false, true]) {
      const app = await world({ block: { addresses: [ada] }, blockExisting })
      await app.adapter.createUser!({ id: 'ada', email: ada, name: null, emailVerified: new Date(0) })
      const client = await app.browser()
      await client.post('/callback/credentials', { user: 'ada' })
      expect((await client.session()) === null).toBe(blockExisting)
    }
  })
})

describe('the waitlist', () => {
  it('asks once, approves once, and the mail leads in', async () => {
    const app = await world({ mode: 'waitlist', block: { domains: ['blocked.example'] } })
    await app.adapter.createUser!({ id: 'bob', email: 'bob@example.com', name: null, emailVerified: new Date(0) })
    const client = await app.browser()
    const answers: unknown[] = []
    for (const email of [ada, ada, 'bob@example.com', 'x@blocked.example']) {
      const response = await client.post('/admission/waitlist', { email })
      answers.push([response.status, response.headers.get('location')])
      await settle()
    }
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1)
    expect(app.mails.map(({ to }) => to)).toEqual([ada])
    const { requests } = await app.auth.admission.listWaitlist(system)
    expect(requests.map(({ email, state }) => [email, state])).toEqual([[ada, 'waiting']])
    const id = requests[0]!.id
    const approvals = await Promise.all([app.auth.admission.approve(system, id), app.auth.admission.approve(system, id)])
    expect(approvals.filter(Boolean)).toHaveLength(1)
    await settle()
    expect(app.mails).toHaveLength(2)
    await waysIn.vendor(app, client)
    expect(await client.session()).not.toBeNull()
    expect((await app.auth.admission.listInvitations(system)).invitations).toEqual([])
  })

  it('a declined address does not come back, and is told nothing', async () => {
    const app = await world({ mode: 'waitlist' })
    const client = await app.browser()
    await client.post('/admission/waitlist', { email: ada })
    await settle()
    const [request] = (await app.auth.admission.listWaitlist(system)).requests
    expect(await app.auth.admission.decline(system, request!.id)).toBe(true)
    await client.post('/admission/waitlist', { email: ada })
    await settle()
    expect([app.mails.length, (await app.auth.admission.listWaitlist(system)).requests]).toEqual([1, []])
    expect((await app.auth.admission.listWaitlist(system, { state: 'declined' })).requests).toHaveLength(1)
    const wrong = await client.post('/admission/waitlist', { email: 'none' })
    expect([wrong.status, (await wrong.text()).match(/value="n[^"]*"/)?.[0]]).toEqual([400, 'value="none"'])
  })
})

describe('organizations', () => {
  it.each([true, false])('an open invitation to the verified address counts: %s', async (organizationInvitations) => {
    const app = await world({ organizationInvitations })
    await app.adapter.createUser!({ id: 'bob', email: 'bob@example.com', name: null, emailVerified: new Date(0) })
    const { id } = await app.auth.organizations.create({ userId: 'bob' }, { name: 'B' })
    const invitation = await app.auth.organizations.invite({ userId: 'bob' }, id, { email: ada })
    expect(await app.auth.admission.check(system, ada)).toBe(organizationInvitations)
    await waysIn.vendor(app, await app.browser())
    expect(app.data.users.size).toBe(organizationInvitations ? 2 : 1)
    await app.auth.organizations.cancel({ userId: 'bob' }, id, invitation.id)
    expect(await app.auth.admission.check(system, ada)).toBe(false)
  })
})

describe('administrators', () => {
  const options = { mode: 'waitlist', can: ({ admin }: { admin: { id?: string } }) => admin.id === 'root', pages: true } as const
  async function start() {
    const app = await world(options)
    for (const id of ['root', 'bob'])
      await app.adapter.createUser!({ id, email: `${id}@example.com`, name: id, emailVerified: new Date(0) })
    const signIn = async (user: string) => {
      const client = await app.browser()
      await client.post('/callback/credentials', { user })
      return client
    }
    return { ...app, signIn }
  }

  it('invite, revoke, approve and decline on the page; others are refused', async () => {
    const app = await start()
    const visitor = await app.browser()
    await visitor.post('/admission/waitlist', { email: ada })
    await settle()
    expect((await visitor.get('/admission/manage')).status).toBe(302)
    const bob = await app.signIn('bob')
    expect((await bob.get('/admission/manage')).status).toBe(403)
    expect(errorOf(await bob.post('/admission/manage', { action: 'invite', uses: '1' }))).toBe('AdmissionDenied')
    const root = await app.signIn('root')
    const shown = await (await root.get('/admission/manage')).text()
    expect(shown).toContain(ada)
    const made = await root.post('/admission/manage', { action: 'invite', uses: '3', note: 'friends' })
    const code = /[0-9A-Z]{4}(?:-[0-9A-Z]{4}){3}/.exec(await made.text())![0]
    const [invitation] = (await app.auth.admission.listInvitations(system)).invitations
    expect(invitation).toMatchObject({ uses: 3, left: 3, note: 'friends', by: 'root' })
    await root.post('/admission/manage', { action: 'revoke', id: invitation!.id })
    expect(errorOf(await visitor.post('/admission/invitation', { code }))).toBe('InvitationCodeInvalid')
    const [request] = (await app.auth.admission.listWaitlist(system)).requests
    await root.post('/admission/manage', { action: 'approve', id: request!.id })
    expect((await app.auth.admission.listWaitlist(system)).requests).toEqual([])
    // What was typed stays in the form.
    const wrong = await root.post('/admission/manage', { action: 'invite', email: 'none', uses: '7', note: 'for <friends>' })
    expect(wrong.status).toBe(400)
    const page = await wrong.text()
    for (const text of ['Check what you entered', 'value="none"', 'value="7"', 'value="for &lt;friends&gt;"']) expect(page).toContain(text)
    // The one of the request alone.
    expect((await app.auth.admission.listInvitations(system)).invitations).toMatchObject([{ email: ada }])
  })

  it('on the server: `can` decides for users, and system needs none', async () => {
    const app = await start()
    await expect(app.auth.admission.invite({ userId: 'bob' })).rejects.toThrow('rejected it')
    await expect(app.auth.admission.invite({ userId: 'none' })).rejects.toThrow('no user')
    expect((await app.auth.admission.invite({ userId: 'root' }, { uses: 2 })).left).toBe(2)
    for (const wrong of [
      { uses: 0 },
      { uses: 1.5 },
      { expiresIn: 1 },
      { email: 'none' },
      { email: ada, uses: 2 },
      { note: 'x'.repeat(201) },
    ])
      await expect(app.auth.admission.invite(system, wrong)).rejects.toMatchObject({ status: 400 })
  })
})

it('an invitation of one tenant lets no visitor into another', async () => {
  const namespaces: Record<string, string> = { 'a.example': 'a', 'b.example': 'b' }
  const tenants: Plugin = {
    name: 'tenants-of-test',
    setup(kernel) {
      kernel.hook('settings', ({ request }) => {
        const { host, origin } = new URL(request.url)
        return { namespace: namespaces[host] ?? '', origin }
      })
      kernel.hook('tenant', ({ tenant }) => ({ namespace: tenant, origin: `https://${tenant}.example` }))
    },
  }
  const app = await world({}, { more: [tenants], config: { origin: undefined } })
  const { code, url } = await app.auth.admission.invite({ system: true, tenant: 'a' })
  expect(url).toMatch(/^https:\/\/a\.example\//)
  const visit = async (host: string) => {
    const client = new Client(app.auth, `https://${host}`)
    const kept = await client.post('/admission/invitation', { code })
    await waysIn.vendor(app, client)
    return [errorOf(kept), (await client.session()) !== null]
  }
  expect(await visit('b.example')).toEqual(['InvitationCodeInvalid', false])
  expect(await visit('a.example')).toEqual([null, true])
})

it('deleting a user takes along by which invitation it came in', async () => {
  const app = await world()
  const { code } = await app.auth.admission.invite(system)
  await waysIn.vendor(app, await app.browser(code))
  const [id] = [...app.data.users.keys()]
  const ctx = await app.rows()
  await ctx.store!.deleteUser(id!)
  expect(await ctx.records('admittedUser').count()).toBe(0)
})

it('codes are typed in any case, with or without dashes, and wrong ones are limited', async () => {
  const app = await world()
  const { code } = await app.auth.admission.invite(system)
  const client = await app.browser()
  expect(errorOf(await client.post('/admission/invitation', { code: ` ${code.toLowerCase().replaceAll('-', ' ')} ` }))).toBeNull()
  const statuses: number[] = []
  for (let tries = 0; tries < 31; tries++) statuses.push((await client.post('/admission/invitation', { code: 'wrong' })).status)
  expect([statuses[0], statuses.at(-1)]).toEqual([303, 429])
})

it('refuses options of the wrong shape', () => {
  for (const wrong of [
    { mode: 'closed' },
    { invitationAge: 1 },
    { pages: true },
    { allow: { domains: ['no domain'] } },
    { block: { disposable: true } },
    { x: 1 },
  ])
    expect(() => admissionPlugin(wrong as never)).toThrow('admission')
})
