import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hostileAddresses } from '../plugins/_hostile-addresses.ts'
import { createHost, errorAt, origin, verifyRequest } from '../plugins/_email-host.ts'
import { type MailServer, startMailServer } from './_mail-server.ts'

let server: MailServer
beforeAll(async () => {
  server = await startMailServer()
})
afterAll(() => server.close())

const address = 'ada@mail.example'
const smtp = () => ({ host: '127.0.0.1', port: server.port })

describe('over SMTP', () => {
  it.each(['database', 'jwt'] as const)('rows 212, 221, 226: a mail arrives, its link signs in (%s)', async (strategy) => {
    const host = createHost({ server: smtp(), from: '"Acme, Inc." <no-reply@app.example>' }, { session: { strategy } })
    const ada = host.person()
    expect(await ada.ask(' Ada@Mail.Example', { callbackUrl: '/dash' })).toBe(verifyRequest)
    const { sender, recipients, mail } = server.delivered.at(-1)!
    expect({ sender, recipients }).toEqual({ sender: 'no-reply@app.example', recipients: [address] })
    expect(mail.subject).toBe('Sign in to app.example')
    expect(mail.from).toMatchObject({ address: 'no-reply@app.example', name: 'Acme, Inc.' })
    expect(mail.to).toMatchObject([{ address }])
    expect(mail.cc ?? []).toEqual([])
    expect(mail.bcc ?? []).toEqual([])
    expect(mail.headers.find(({ key }) => key === 'auto-submitted')?.value).toBe('auto-generated')
    expect(mail.attachments).toEqual([])
    const link = server.lastLink()
    expect(mail.html).toContain(`href="${link.replaceAll('&', '&amp;')}"`)
    expect(await ada.open(link)).toBe(`${origin}/dash`)
    expect((await ada.session())?.user).toMatchObject({ email: address })
    expect(host.errors).toEqual([])
  })

  it('row 212: an smtp:// URL, and the default sender of the own host', async () => {
    const host = createHost({ server: `smtp://127.0.0.1:${server.port}?pool=true` })
    expect(await host.person().ask(address)).toBe(verifyRequest)
    expect(server.delivered.at(-1)).toMatchObject({ sender: 'no-reply@app.example', recipients: [address] })
  })

  it.each([
    ['the module', () => import('nodemailer')],
    ['a module in the older form', async () => ({ default: await import('nodemailer') })],
  ])('row 212: lib brings nodemailer: %s', async (_form, lib) => {
    const host = createHost({ server: smtp(), lib })
    expect(await host.person().ask(address)).toBe(verifyRequest)
    expect(server.delivered.at(-1)?.recipients).toEqual([address])
  })

  it('row 227: the theme of the host colours the mail', async () => {
    const host = createHost({ server: smtp() }, { theme: { brandColor: '#336699', buttonText: '#fefefe' } })
    await host.person().ask(address)
    const { html } = server.delivered.at(-1)!.mail
    expect(html).toContain('bgcolor="#336699"')
    expect(html).toContain('color:#fefefe')
    expect(html).toContain('app&#8203;.example')
  })

  it('GHSA-hwqf-gcqm-7353: a long callback URL with line breaks makes no headers and no second mail', async () => {
    const host = createHost({ server: smtp() })
    const before = server.delivered.length
    const callbackUrl = `/x?${'y'.repeat(1500)}\r\nBcc: eve@evil.example\r\n.\r\nMAIL FROM:<eve@evil.example>`
    expect(await host.person().ask(address, { callbackUrl })).toBe(verifyRequest)
    expect(server.delivered).toHaveLength(before + 1)
    const { recipients, mail, raw } = server.delivered.at(-1)!
    expect(recipients).toEqual([address])
    expect(mail.headers.map(({ key }) => key)).not.toContain('bcc')
    expect(raw.split('\r\n').every((line) => line.length <= 998)).toBe(true)
    expect(await host.person().open(server.lastLink())).toContain(origin)
  })

  it('of the hostile corpus nothing reaches anybody but the stored identifier', async () => {
    const host = createHost({ server: smtp() }, { throttle: false })
    expect(hostileAddresses.length).toBeGreaterThanOrEqual(54)
    const misdelivered: unknown[] = []
    for (const email of hostileAddresses) {
      const before = server.asked.length
      host.data.tokens.clear()
      const answer = await host.person().ask(email)
      const asked = server.asked.slice(before)
      const stored = [...host.data.tokens.values()].map(({ identifier }) => identifier)
      const fine = answer === verifyRequest ? asked.length === 1 && asked[0] === stored[0] : asked.length === 0 && stored.length === 0
      if (!fine || asked.some((recipient) => recipient.includes('evil'))) misdelivered.push({ email, answer, asked, stored })
    }
    expect(misdelivered).toEqual([])
    // One address is larger than a body may be (413).
    expect(host.logged().filter((type) => type !== 'EmailSignInError')).toEqual(['AuthError'])
  })

  it.each([
    ['ada@mail.example', 'ada@mail.example'],
    ["o'brien+tag@mail.example", "o'brien+tag@mail.example"],
    // The server decodes what it was asked for; on the wire it is xn--bcher-kva.
    ['ADA@B\u00DCCHER.example', 'ada@b\u00FCcher.example'],
    ['ada@XN--bcher-kva.example', 'ada@b\u00FCcher.example'],
    ['\uFF41da\uFF20mail\uFF0Eexample', 'ada@mail.example'],
    ['{curly}=#$&*/?^_~@mail.example', '{curly}=#$&*/?^_~@mail.example'],
  ])('D39: RCPT TO of %j is the stored identifier %s', async (written, identifier) => {
    const host = createHost({ server: smtp() }, { throttle: false })
    expect(await host.person().ask(written)).toBe(verifyRequest)
    expect(server.delivered.at(-1)?.recipients).toEqual([identifier])
    expect([...host.data.tokens.values()].map((row) => row.identifier)).toEqual([identifier])
    expect(await host.person().open(server.lastLink())).toBe(origin)
  })

  it('D39: with internationalAddresses the mailbox is asked for in UTF-8', async () => {
    const host = createHost({ server: smtp(), internationalAddresses: true })
    expect(await host.person().ask('J\u00F5e@mail.example')).toBe(verifyRequest)
    expect(server.delivered.at(-1)?.recipients).toEqual(['j\u00F5e@mail.example'])
    expect(await host.person().open(server.lastLink())).toBe(origin)
  })
})

describe('a mail server that says no', () => {
  it('row 226: a refused recipient is an error, and the token is gone', async () => {
    const refusing = await startMailServer({ onRcptTo: (_address, _session, callback) => callback(new Error('no such mailbox')) })
    const host = createHost({ server: { host: '127.0.0.1', port: refusing.port } })
    expect(await host.person().ask(address)).toBe(errorAt('Configuration'))
    expect(host.logged()).toEqual(['EmailSignInError'])
    expect(host.errors[0]?.message).toContain('no such mailbox')
    expect(host.data.tokens.size).toBe(0)
    expect(refusing.asked).toEqual([address])
    await refusing.close()
  })

  it('GHSA-p6mm-27gq-9v3p: a wrong password is an error that does not repeat it; the right one works', async () => {
    const strict = await startMailServer({
      authOptional: false,
      allowInsecureAuth: true,
      onAuth: ({ username, password }, _session, callback) =>
        password === 'right' ? callback(null, { user: username }) : callback(new Error(`no, not ${password}`)),
    })
    const wrong = createHost({ server: `smtp://ada:wrong-canary@127.0.0.1:${strict.port}` })
    expect(await wrong.person().ask(address)).toBe(errorAt('Configuration'))
    const [error] = wrong.errors
    expect(error?.type).toBe('EmailSignInError')
    expect([error?.message, error?.cause?.err?.message, error?.cause?.err?.stack].join('\n')).not.toContain('canary')
    const right = createHost({ server: `smtp://ada:right@127.0.0.1:${strict.port}` })
    expect(await right.person().ask(address)).toBe(verifyRequest)
    expect(strict.delivered).toHaveLength(1)
    await strict.close()
  })

  it('SECURITY 1.3: requireTLS is kept: without STARTTLS no password and no mail', async () => {
    let passwords = 0
    const plain = await startMailServer({
      authOptional: false,
      allowInsecureAuth: true,
      onAuth: (_auth, _session, callback) => {
        passwords++
        callback(null, { user: 'ada' })
      },
    })
    const host = createHost({ server: { host: '127.0.0.1', port: plain.port, requireTLS: true, auth: { user: 'ada', pass: 'secret' } } })
    expect(await host.person().ask(address)).toBe(errorAt('Configuration'))
    expect(passwords).toBe(0)
    expect(plain.delivered).toEqual([])
    await plain.close()
  })

  it('SECURITY 5.2: a server that accepts everything and then hangs is given up', async () => {
    const hanging = await startMailServer({ onData: (stream) => void stream.resume() })
    const host = createHost({ server: { host: '127.0.0.1', port: hanging.port } }, { deadlines: { network: 300 } })
    expect(await host.person().ask(address)).toBe(errorAt('Configuration'))
    expect(host.logged()).toEqual(['EmailSignInError'])
    expect(host.data.tokens.size).toBe(0)
    await hanging.close()
  })
})

describe('at the same time', () => {
  it('thirty people at once, each gets one mail and signs in once', async () => {
    const host = createHost({ server: smtp() }, { session: { strategy: 'database' } })
    const before = server.delivered.length
    const people = Array.from({ length: 30 }, (_, i) => ({ email: `user${i}@mail.example`, person: host.person() }))
    await Promise.all(people.map(({ email, person }) => person.ask(email)))
    const mails = server.delivered.slice(before)
    expect(mails.map(({ recipients }) => recipients.join()).sort()).toEqual(people.map(({ email }) => email).sort())
    await Promise.all(
      people.map(({ email, person }) => {
        const { mail } = mails.find(({ recipients }) => recipients[0] === email)!
        return person.open(/https?:\S+/.exec(mail.text ?? '')![0])
      }),
    )
    const sessions = await Promise.all(people.map(async ({ person }) => (await person.session())?.user?.['email']))
    expect(sessions).toEqual(people.map(({ email }) => email))
    expect(host.data.sessions.size).toBe(30)
  })
})
