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
import { createElement } from 'react'
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

  it('all mails have the logo or the name of the app above, and the footer below, by language', async () => {
    const plain = host({}, { appName: 'Acme' })
    expect((await plain.auth.written({})).html).toContain('>Acme</p>')
    const { auth, sent } = host({
      logo: 'https://cdn.example/logo.png?a=1&b=2',
      footer: { en: 'Acme Inc., 1 Main St', de: 'Acme GmbH & Co.' },
    })
    await auth.mail({}, { lang: 'de' })
    await auth.mail({}, { lang: 'en' })
    const [german, english] = sent as [MailMessage, MailMessage]
    expect(german.html).toContain('<img src="https://cdn.example/logo.png?a=1&amp;b=2" alt="app&#8203;.example"')
    expect(german.html).toContain('Acme GmbH &amp; Co.')
    expect(german.text.endsWith('Nicht Sie?\n\nAcme GmbH & Co.\n')).toBe(true)
    expect(english.text.endsWith('Acme Inc., 1 Main St\n')).toBe(true)
    const { auth: one, sent: mails } = host({ footer: 'Acme' })
    await one.mail({}, { lang: 'ja' })
    expect(mails[0]!.text.endsWith('\n\nAcme\n')).toBe(true)
  })

  it.each([
    [{ logo: 'data:image/png;base64,AAAA' }, /`logo` must be an absolute https URL/],
    [{ logo: 'http://cdn.example/logo.png' }, /`logo` must be an absolute https URL/],
    [{ render: () => undefined, reactEmail: () => null }, /`render` or `reactEmail`, not both/],
    [{ footr: 'x' } as MailPluginOptions, /footr/],
  ])('a wrong option is refused with its name: %o', (options, message) => {
    expect(() => mailPlugin(options)).toThrow(message)
  })

  it('a template of the host draws the mails that it wants; the rest, and what it leaves out, is as built in', async () => {
    const { auth, sent } = host({
      render: async (mail) => {
        if (mail.lang === 'de') return undefined
        return { html: `<main>${mail.lines.map(({ html }) => html).join('')}|${mail.lines.map(({ text }) => text).join('')}</main>` }
      },
    })
    await auth.mail({ name: 'evil.example <b>', code: '1', url: 'https://app.example/x' }, { lang: 'en' })
    await auth.mail({ name: 'Ada' }, { lang: 'de' })
    const [english, german] = sent as [MailMessage, MailMessage]
    // Values are no markup and no link in `html`, and no link in `text`.
    expect(english.html).toBe('<main>Hello evil&#8203;.example &lt;b&gt;,|Hello evil\u200B.example <b>,</main>')
    expect(english.text).toContain('Hello evil.example <b>,')
    expect(english.subject).toBe('Your code for app.example')
    expect(english.url).toBe('https://app.example/x')
    expect(german.html).toContain('<!doctype html>')
  })

  it('a template of the host that throws is MailNotSent, without the values', async () => {
    const { auth } = host({
      render: ({ code }) => {
        throw new Error(`cannot draw ${code}`)
      },
    })
    const failure = auth.mail({ code: '204981' })
    await expect(failure).rejects.toBeInstanceOf(MailNotSent)
    await expect(failure).rejects.not.toThrow(/204981/)
  })

  it('an element of React is drawn by @react-email/render, as HTML and as text', async () => {
    const { auth, sent } = host({
      reactEmail: ({ heading, button, lang }) =>
        createElement(
          'html',
          { lang },
          createElement('h1', null, heading.text),
          button && createElement('a', { href: button.url }, button.label),
        ),
    })
    await auth.mail({ url: 'https://app.example/x?a=1&b=2' }, { lang: 'de' })
    const [{ html, text }] = sent as [MailMessage]
    expect(html).toContain('<h1>Ihr Code für app\u200B.example</h1><a href="https://app.example/x?a=1&amp;b=2">Öffnen</a>')
    expect(text).toMatch(/Öffnen\s+https:\/\/app\.example\/x\?a=1&b=2/)
  })

  it('every mail has a preview with invented values in each language, which sends nothing', async () => {
    const { auth, sent } = host()
    expect(await auth.mailTemplates.list()).toContain('codes.mail')
    for (const name of await auth.mailTemplates.list())
      for (const lang of ['en', 'de', 'fr', 'es', 'ja']) {
        const { subject, text } = await auth.mailTemplates.preview(name, { lang })
        expect(`${subject}\n${text}`, `${name} ${lang}`).not.toMatch(/\{\w+\}/)
      }
    const { text } = await auth.mailTemplates.preview('codes.mail', { lang: 'de' })
    expect(text).toContain('Guten Tag, Ann Example,\nangefordert 15.01.2026, 09:30 UTC, gilt 15 Minuten\n\n204981')
    await expect(auth.mailTemplates.preview('codes.none')).rejects.toThrow(/No plugin has declared the mail "codes.none"/)
    expect(sent).toEqual([])
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
