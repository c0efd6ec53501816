/** The service `mail`: templates of plugins, languages, values of strangers, transports. Through a real SMTP server: test/flows/email-smtp.test.ts. */
import { createAuth } from 'authkernel'
import {
  type AuthConfig,
  type Context,
  definePlugin,
  type EmailConfig,
  MailNotSent,
  type MailMessage,
  type MailOptions,
  type MailValue,
} from 'authkernel/kernel'
import { mailPlugin, type MailPluginOptions } from 'authkernel/plugins/mail'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { describe, expect, it } from 'vitest'
import { baseConfig } from '../_setup.ts'

const codes = definePlugin({
  name: 'codes',
  setup(kernel) {
    kernel.messages({
      en: {
        'codes.subject': 'Your code for {site}',
        'codes.hello': 'Hello {name},',
        'codes.where': 'asked for at {at}, & valid for {left}',
        'codes.open': 'Open',
        'codes.note': 'Not you?',
      },
      de: {
        'codes.subject': 'Ihr Code für {site}',
        'codes.hello': 'Guten Tag, {name},',
        'codes.where': 'angefordert {at}, gilt {left}',
        'codes.open': 'Öffnen',
        'codes.note': 'Nicht Sie?',
      },
    })
    kernel.mailTemplate('codes.mail', {
      subject: 'codes.subject',
      lines: ['codes.hello', 'codes.where'],
      code: 'code',
      button: { text: 'codes.open', url: 'url' },
      note: 'codes.note',
    })
    return {
      async mail(
        data: Record<string, MailValue>,
        { to = 'ada@mail.example', ...options }: MailOptions & { to?: string } = {},
        headers: Record<string, string> = {},
      ) {
        const ctx: Context = await kernel.contextOf(new Request('https://app.example/x', { headers }))
        await ctx.service('mail').send(ctx, to, 'codes.mail', data, options)
      },
      job: (data: Record<string, MailValue>, options?: MailOptions) =>
        kernel.job({ job: 'notices' }, (ctx) => ctx.service('mail').send(ctx, 'ada@mail.example', 'codes.mail', data, options)),
      written: async (data: Record<string, MailValue>) => {
        const ctx: Context = await kernel.contextOf(new Request('https://app.example/x'))
        return ctx.service('mail').write(ctx, 'codes.mail', data)
      },
    }
  },
})
function host(options: MailPluginOptions = {}, config: AuthConfig = {}) {
  const sent: MailMessage[] = []
  const transport = { send: (message: MailMessage) => void sent.push(message) }
  const auth = createAuth(baseConfig({ origin: 'https://app.example', ...config }))
    .use(mailPlugin({ transport, ...options }))
    .use(codes)
  return { auth, sent, transport }
}

describe('mail', () => {
  it('writes text and HTML in the language of the request, from one template', async () => {
    const { auth, sent } = host()
    const data = {
      name: 'Ada',
      code: '123 456',
      url: 'https://app.example/x?a=1&b=2',
      at: new Date(Date.UTC(2026, 0, 2, 3, 4)),
      left: { seconds: 600 },
    }
    await auth.mail(data, {}, { 'accept-language': 'de-CH' })
    const [{ text, html, ...rest }] = sent as [MailMessage]
    expect(rest).toEqual({ from: 'no-reply@app.example', to: 'ada@mail.example', subject: 'Ihr Code für app.example', url: data.url })
    expect(text).toBe(
      'Ihr Code für app.example\n\nGuten Tag, Ada,\nangefordert 02.01.2026, 03:04 UTC, gilt 10 Minuten\n\n123 456\n\nhttps://app.example/x?a=1&b=2\n\nNicht Sie?\n',
    )
    expect(html).toContain('<html lang="de" dir="ltr">')
    expect(html).toContain('Ihr Code für app&#8203;.example</h1>')
    expect(html).toContain('>123 456</span>')
    expect(html).toContain('href="https://app.example/x?a=1&amp;b=2"')
    expect(html).toContain('Falls die Schaltfläche nicht funktioniert')
  })

  it('the caller names the language; texts of the host go over those of the plugin; unknown ones are English', async () => {
    const { auth, sent } = host({}, { messages: { en: { 'codes.subject': 'PIN from {site}' } }, locale: () => 'de' })
    await auth.mail({})
    await auth.mail({}, { lang: 'en' })
    await auth.mail({}, { lang: 'tlh' })
    expect(sent.map(({ subject }) => subject)).toEqual(['Ihr Code für app.example', 'PIN from app.example', 'PIN from app.example'])
  })

  it('a paragraph whose value is missing, a code and a button without one are left out', async () => {
    const { auth } = host()
    const { text, html, url } = await auth.written({ at: new Date(0), left: { seconds: 60 } })
    expect(text).toBe('Your code for app.example\n\nasked for at Jan 1, 1970, 12:00 AM UTC, & valid for 1 minute\n\nNot you?\n')
    expect(html).toContain('UTC, &amp; valid')
    expect(html).not.toContain('<a ')
    expect(url).toBeUndefined()
  })

  it('values of strangers are one line, no markup, no link, and bounded', async () => {
    const { auth, sent } = host()
    await auth.mail({ name: `<b>x</b>\r\nBcc: eve@evil.example \u202eevil.example ${'y'.repeat(2000)}` })
    const { text, html } = sent[0]!
    expect(text).toMatch(/Hello <b>x<\/b> {2}Bcc: eve@evil\.example {2}evil\.example y+…,\n/)
    expect(text.length).toBeLessThan(500)
    expect(html).not.toMatch(/<b>|evil\.example|\u202e/)
  })

  it.each(['javascript:alert(1)', 'data:text/html,x', 'nonsense'])('the button does not lead to %s', async (url) => {
    const { auth, sent } = host()
    await expect(auth.mail({ url })).rejects.toThrow(MailNotSent)
    expect(sent).toEqual([])
  })

  it.each(['ada@mail.example,eve@evil.example', 'ada@mail.example\r\nBcc: eve@evil.example', 'Ada <ada@mail.example>', 'ada', ''])(
    '%j is not a recipient',
    async (to) => {
      const { auth, sent } = host()
      await expect(auth.mail({}, { to })).rejects.toThrow('the recipient is not one mail address')
      expect(sent).toEqual([])
    },
  )

  it('who sends: the option, else the transport, else the own host; a job without an origin must say it', async () => {
    const from = async (options: MailPluginOptions, config?: AuthConfig): Promise<string | undefined> => {
      const { auth, sent, transport } = host(options, config)
      await auth.job({}, options.transport && { transport: { ...transport, ...options.transport, send: transport.send } })
      return sent[0]?.from
    }
    expect(await from({})).toBe('no-reply@app.example')
    expect(await from({ transport: { from: 'T <t@t.example>', send: () => undefined } })).toBe('T <t@t.example>')
    expect(await from({ from: 'A <a@a.example>', transport: { from: 'T <t@t.example>', send: () => undefined } })).toBe('A <a@a.example>')
    await expect(host({}, { origin: undefined }).auth.job({})).rejects.toThrow('a mail of a job has no sender: set AUTH_URL')
  })

  it('a failure is MailNotSent, without address, link or code; a transport that hangs is given up', async () => {
    const failing = host({ transport: { send: ({ to, text }) => Promise.reject(new Error(`550 <${to}> ${text}`)) } })
    const error = await failing.auth
      .mail({ code: '123456', url: 'https://app.example/secret' })
      .catch((thrown: unknown) => thrown as MailNotSent)
    expect(error).toBeInstanceOf(MailNotSent)
    expect(JSON.stringify([error?.message, error?.cause?.err?.message, error?.cause?.err?.stack])).not.toMatch(/ada@mail|123456|secret/)
    expect(error?.message).toContain('The mail "codes.mail" could not be sent: 550')
    const hanging = host({ transport: { send: () => new Promise(() => {}) } }, { deadlines: { network: 20 } })
    await expect(hanging.auth.mail({})).rejects.toThrow('no answer within 20 ms (deadlines.network)')
  })

  it('an undeclared mail is named with those that are', async () => {
    const auth = createAuth(baseConfig()).use(
      definePlugin({
        name: 'x',
        setup: (kernel) => ({ send: () => kernel.job({ job: 'x' }, (ctx) => ctx.service('mail').send(ctx, 'a@b.example', 'x.y', {})) }),
      }),
    )
    await expect(auth.send()).rejects.toThrow(/No plugin has declared the mail "x.y".*Declared: email.link/)
  })
})

describe('mailTransport', () => {
  const needs = definePlugin({ name: 'codes', requires: ['mail', 'mailTransport'], setup: () => ({}) })
  const api = (body: Record<string, unknown>): EmailConfig['api'] => ({ url: 'https://api.example/send', body })
  const email = (more: Partial<EmailConfig>): EmailConfig => ({
    id: 'm',
    name: 'M',
    type: 'email',
    from: 'Acme <no-reply@acme.example>',
    ...more,
  })
  const withEmail = (...providers: EmailConfig[]): AuthConfig => ({ adapter: memoryAdapter(), providers })

  it('without a mailer a plugin that needs one is refused when it compiles, with the remedy', async () => {
    const ready = (config: AuthConfig): Promise<void> => createAuth(baseConfig(config)).use(needs).ready()
    await expect(ready({})).rejects.toThrow(
      /Plugin "codes" needs the service "mailTransport".*email provider.*mailPlugin\(\{ transport \}\)/,
    )
    await expect(ready(withEmail(email({ sendVerificationRequest: () => undefined })))).rejects.toThrow('mailTransport')
    // It fills in templates of its own and would drop ours.
    await expect(ready(withEmail(email({ api: api({ to: '{to}', link: '{url}' }) })))).rejects.toThrow('mailTransport')
    await ready(withEmail(email({ server: 'smtp://localhost' })))
  })

  it('is the first email provider that sends what it is given', async () => {
    const bodies: unknown[] = []
    const config = withEmail(
      email({ id: 'own', sendVerificationRequest: () => undefined }),
      email({ id: 'http', api: api({ from: '{from.address}', to: '{to}', subject: '{subject}', html: '{html}', text: '{text}' }) }),
    )
    const runtime = {
      ...baseConfig().runtime,
      fetch: async (_url: unknown, init?: RequestInit) => (bodies.push(JSON.parse(String(init?.body))), new Response('{}')),
    }
    const auth = createAuth(baseConfig({ ...config, origin: 'https://app.example', runtime: runtime as never })).use(codes)
    await auth.mail({ code: '42' })
    expect(bodies).toMatchObject([
      {
        from: 'no-reply@acme.example',
        to: 'ada@mail.example',
        subject: 'Your code for app.example',
        text: expect.stringContaining('\n\n42\n\n') as string,
      },
    ])
  })
})
