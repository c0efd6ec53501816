import { AuthError, type EmailConfig, type ProviderOf } from 'authkernel/kernel'
import { describe, expect, it } from 'vitest'
import { sendThroughApi } from '../../plugins/sign-in/email/api.ts'
import { toTransportOptions } from '../../plugins/sign-in/email/server.ts'
import { validateProvider } from '../../plugins/sign-in/email/validate.ts'
import { amazonSes } from '../../plugins/providers/amazon-ses.ts'
import { email } from '../../plugins/providers/email.ts'
import { forwardemail } from '../../plugins/providers/forwardemail.ts'
import { loops } from '../../plugins/providers/loops.ts'
import { mailgun } from '../../plugins/providers/mailgun.ts'
import { nodemailer } from '../../plugins/providers/nodemailer.ts'
import { postmark } from '../../plugins/providers/postmark.ts'
import { resend } from '../../plugins/providers/resend.ts'
import { sendgrid } from '../../plugins/providers/sendgrid.ts'

/** A provider as the kernel hands it on: the host's options over the preset's own. */
const merged = ({ options, ...own }: ProviderOf<'email'>): EmailConfig => ({ ...own, ...options }) as EmailConfig

const mail = {
  from: 'Login <no-reply@app.example>',
  to: 'ada@mail.example',
  url: 'https://app.example/auth/callback/x?token=t&email=ada%40mail.example',
  host: 'app.example',
  subject: 'Sign in to app.example',
  text: 'TEXT',
  html: '<p>HTML</p>',
}

interface Sent {
  url: string
  method: string
  headers: Record<string, string>
  body: unknown
  redirect: string | undefined
}

/** Sends through a `fetch` that remembers the request. */
async function send(provider: EmailConfig, answer = new Response('{"id":"1"}'), what = mail): Promise<Sent> {
  let sent: Sent | undefined
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const body = init?.body
    sent = {
      url: String(input),
      method: init?.method ?? '',
      headers: Object.fromEntries(new Headers(init?.headers)),
      body: body instanceof FormData ? Object.fromEntries(body) : JSON.parse(String(body)),
      redirect: init?.redirect,
    }
    return answer
  }
  await sendThroughApi(provider, provider.api!, what, { fetch, deadline: 5_000, limit: 10_000 })
  return sent!
}

const usual = { from: mail.from, to: mail.to, subject: mail.subject, html: mail.html, text: mail.text }
const json = { 'content-type': 'application/json' }
const mailers: [string, EmailConfig, Pick<Sent, 'url' | 'headers' | 'body'>][] = [
  [
    'resend',
    merged(resend({ apiKey: 'key' })),
    { url: 'https://api.resend.com/emails', headers: { ...json, authorization: 'Bearer key' }, body: usual },
  ],
  [
    'sendgrid',
    merged(sendgrid({ apiKey: 'key' })),
    {
      url: 'https://api.sendgrid.com/v3/mail/send',
      headers: { ...json, authorization: 'Bearer key' },
      body: {
        personalizations: [{ to: [{ email: mail.to }] }],
        from: { email: 'no-reply@app.example', name: 'Login' },
        subject: mail.subject,
        content: [
          { type: 'text/plain', value: mail.text },
          { type: 'text/html', value: mail.html },
        ],
      },
    },
  ],
  [
    'postmark',
    merged(postmark({ apiKey: 'key' })),
    {
      url: 'https://api.postmarkapp.com/email',
      headers: { ...json, accept: 'application/json', 'x-postmark-server-token': 'key' },
      body: { From: mail.from, To: mail.to, Subject: mail.subject, TextBody: mail.text, HtmlBody: mail.html, MessageStream: 'outbound' },
    },
  ],
  [
    'mailgun',
    merged(mailgun({ apiKey: 'key' })),
    { url: 'https://api.mailgun.net/v3/app.example/messages', headers: { authorization: 'Basic YXBpOmtleQ==' }, body: usual },
  ],
  [
    'mailgun in the EU',
    merged(mailgun({ apiKey: 'key', region: 'EU' })),
    { url: 'https://api.eu.mailgun.net/v3/app.example/messages', headers: { authorization: 'Basic YXBpOmtleQ==' }, body: usual },
  ],
  [
    'forwardemail',
    merged(forwardemail({ apiKey: 'key' })),
    { url: 'https://api.forwardemail.net/v1/emails', headers: { ...json, authorization: 'Basic a2V5Og==' }, body: usual },
  ],
  [
    'loops',
    merged(loops({ apiKey: 'key', transactionalId: 'tx-1' })),
    {
      url: 'https://app.loops.so/api/v1/transactional',
      headers: { ...json, authorization: 'Bearer key' },
      body: { transactionalId: 'tx-1', email: mail.to, dataVariables: { url: mail.url } },
    },
  ],
]

describe('HTTP mailers', () => {
  it.each(mailers)('row 209: %s gets the mail in its own form', async (_name, provider, expected) => {
    expect(await send(provider)).toEqual({ ...expected, method: 'POST', redirect: 'manual' })
  })

  it.each(mailers)('row 209: %s names its options when they are missing', (_name, { apiKey: _key, ...provider }) => {
    expect(() => validateProvider(provider)).toThrow(AuthError)
    expect(() => validateProvider(provider)).toThrow(new RegExp(`"${provider.id}".*"apiKey".*AUTH_${provider.id.toUpperCase()}_KEY`))
  })

  it('row 209: loops needs its transactionalId', () => {
    expect(() => validateProvider(merged(loops({ apiKey: 'key', transactionalId: '' })))).toThrow('option "transactionalId" is missing')
    expect(() => validateProvider(merged(loops({ apiKey: 'key', transactionalId: 'tx' })))).not.toThrow()
  })

  it('row 209: a sender without a name has no name', async () => {
    const { body } = await send(merged(sendgrid({ apiKey: 'key' })), new Response('{}'), { ...mail, from: 'no-reply@app.example' })
    expect((body as { from: unknown }).from).toEqual({ email: 'no-reply@app.example' })
  })

  it.each([
    ['Resend', 403, '{"message":"bad"}'],
    ['Resend', 500, ''],
  ])('row 226: %s answering %i is an error with status and answer', async (name, status, body) => {
    await expect(send(merged(resend({ apiKey: 'key' })), new Response(body, { status }))).rejects.toThrow(
      `${name} answered with status ${status}: ${body}`,
    )
  })

  it('D10: redirects are not followed, large answers are given up', async () => {
    const provider = merged(resend({ apiKey: 'key' }))
    const redirect = new Response(null, { status: 307, headers: { location: 'https://evil.example/' } })
    await expect(send(provider, redirect)).rejects.toThrow('redirect, which is not followed')
    await expect(send(provider, new Response('x'.repeat(20_000), { status: 500 }))).rejects.toThrow('more than 10000 bytes')
    await expect(send(merged(resend({ apiKey: 'key', api: { url: 'http://mail.example/', body: {} } })))).rejects.toThrow('not https')
  })

  it('GHSA-hwqf-gcqm-7353: what is filled in is never read as a template', async () => {
    const { body } = await send(merged(resend({ apiKey: 'secret-key' })), new Response('{}'), {
      ...mail,
      to: '{apikey}{apiKey}@mail.example',
      text: '{apiKey} {html}',
    })
    expect(body).toMatchObject({ to: '{apikey}{apiKey}@mail.example', text: '{apiKey} {html}' })
    expect(JSON.stringify(body)).not.toContain('secret-key')
  })

  it('row 209: names of Object.prototype are not options', () => {
    const provider = merged(resend({ apiKey: 'key', api: { url: 'https://x.example', body: { a: '{constructor}' } } }))
    expect(() => validateProvider(provider)).toThrow('option "constructor" is missing')
  })
})

describe('presets', () => {
  it.each([
    ['nodemailer', 'Nodemailer', nodemailer({ server: 'smtp://127.0.0.1:25' })],
    ['email', 'Email', email({ server: 'smtp://127.0.0.1:25' })],
    ['amazon-ses', 'Amazon SES', amazonSes({ region: 'eu-central-1', user: 'u', pass: 'p' })],
    ['resend', 'Resend', resend()],
    ['sendgrid', 'SendGrid', sendgrid()],
    ['postmark', 'Postmark', postmark()],
    ['mailgun', 'Mailgun', mailgun()],
    ['forwardemail', 'Forward Email', forwardemail()],
    ['loops', 'Loops', loops({ transactionalId: 'tx' })],
  ])('row 209: %s is data with its id, name and lifetime', (id, name, provider) => {
    expect(provider).toMatchObject({ id, name, type: 'email', maxAge: 600 })
    expect(structuredClone(provider)).toEqual(provider)
  })

  it('row 209: amazon-ses is the SMTP interface of the region, with TLS', () => {
    const { server } = merged(amazonSes({ region: 'eu-central-1', user: 'u', pass: 'p', from: 'a@b.example' }))
    expect(toTransportOptions(server!)).toEqual({
      host: 'email-smtp.eu-central-1.amazonaws.com',
      port: 465,
      secure: true,
      auth: { user: 'u', pass: 'p' },
    })
    expect(() => validateProvider(merged(amazonSes({ region: undefined, user: 'u', pass: 'p' })))).toThrow(
      '"server.host" is not a host name',
    )
    expect(() => validateProvider(merged(amazonSes({ region: 'eu-central-1', user: undefined, pass: 'p' })))).toThrow(
      '"server.auth.user" is empty',
    )
  })

  it.each([nodemailer({ server: undefined }), email({ server: undefined }), nodemailer({ server: '' })])(
    'row 226: $id without server is an AuthError',
    (provider) => {
      expect(() => validateProvider(merged(provider))).toThrow(AuthError)
      expect(() => validateProvider(merged(provider))).toThrow(new RegExp(`Email provider "${provider.id}": it has no "server": give`))
    },
  )

  it.each(['no mailbox', 'a@b.example, c@d.example', 'A\r\nBcc: x@y.example <a@b.example>', 'A, B <a@b.example>'])(
    'row 226: from %j is refused with provider and remedy',
    (from) => {
      expect(() => validateProvider(merged(nodemailer({ server: 'smtp://127.0.0.1', from })))).toThrow(
        /Email provider "nodemailer": option "from" is not one mailbox/,
      )
    },
  )

  it.each([0, -1, Number.NaN])('row 216: maxAge %d is refused', (maxAge) => {
    expect(() => validateProvider(merged(nodemailer({ server: 'smtp://127.0.0.1', maxAge })))).toThrow('option "maxAge"')
  })
})

describe('server', () => {
  it('row 212: a URL becomes transport options', () => {
    expect(toTransportOptions('smtps://user%40x:p%2Fw@mail.example:465')).toEqual({
      secure: true,
      host: 'mail.example',
      port: 465,
      auth: { user: 'user@x', pass: 'p/w' },
    })
    expect(toTransportOptions('smtp://127.0.0.1:2525')).toEqual({ secure: false, host: '127.0.0.1', port: 2525 })
    expect(toTransportOptions('smtp://[::1]:2525')).toEqual({ secure: false, host: '::1', port: 2525 })
    expect(toTransportOptions('smtp://mail.example?tls.rejectUnauthorized=false&connectionTimeout=500')).toEqual({
      secure: false,
      host: 'mail.example',
      connectionTimeout: 500,
      tls: { rejectUnauthorized: false },
    })
  })

  it('row 212: options pass, with a URL among them', () => {
    expect(toTransportOptions({ host: 'mail.example', port: 587, secure: false, name: undefined })).toEqual({
      host: 'mail.example',
      port: 587,
      secure: false,
    })
    expect(toTransportOptions({ url: 'smtp://mail.example:587', ignoreTLS: true })).toEqual({
      ignoreTLS: true,
      secure: false,
      host: 'mail.example',
      port: 587,
    })
    expect(toTransportOptions({ service: 'gmail', auth: { user: 'u', pass: 'p' } })).toEqual({
      service: 'gmail',
      auth: { user: 'u', pass: 'p' },
    })
    expect(toTransportOptions({ host: 'mail.example', pool: true, maxConnections: 3, logger: false, debug: false })).toEqual({
      host: 'mail.example',
      logger: false,
      debug: false,
    })
    expect(toTransportOptions({ host: 'mail.example', auth: { type: 'OAuth2', user: 'u', accessToken: 't' } })).toMatchObject({
      auth: { type: 'OAuth2' },
    })
  })

  it('SECURITY 1.3: a password is not sent in clear text, unless the host says so or the server is here', () => {
    const auth = { user: 'u', pass: 'p' }
    expect(toTransportOptions({ host: 'mail.example', auth })).toMatchObject({ requireTLS: true })
    expect(toTransportOptions('smtp://u:p@mail.example')).toMatchObject({ requireTLS: true })
    for (const host of ['127.0.0.1', 'localhost', '::1']) expect(toTransportOptions({ host, auth })).not.toHaveProperty('requireTLS')
    expect(toTransportOptions({ host: 'mail.example', auth, secure: true })).not.toHaveProperty('requireTLS')
    expect(toTransportOptions({ host: 'mail.example', auth, requireTLS: false })).toMatchObject({ requireTLS: false })
    expect(toTransportOptions({ host: 'mail.example' })).not.toHaveProperty('requireTLS')
  })

  it.each([
    [{ sendmail: true }, 'starts a program'],
    [{ host: 'mail.example', sendmail: true, path: '/bin/sh' }, 'program'],
    [{ jsonTransport: true }, 'no mail would be sent'],
    [{ streamTransport: true }, 'no mail would be sent'],
    [{ SES: {} }, 'amazon-ses'],
    [{ host: 'mail.example', logger: true }, 'would print'],
    [{ host: 'mail.example', debug: true }, 'would print'],
    [{ host: 'mail.example', constructor: 1 }, 'not known'],
    [{ host: 'mail.example', getSocket: () => {} }, 'not known'],
    [{}, 'server.host'],
    [{ host: 'mail.example\r\nQUIT' }, 'server.host'],
    [{ host: '' }, 'server.host'],
    [{ host: 'mail.example', auth: { user: 'u', pass: undefined } }, 'server.auth.pass'],
    [{ host: 'mail.example', auth: {} }, 'server.auth.user'],
    ['mail.example', 'not a URL|must be an smtp'],
    ['http://mail.example', 'must be an smtp'],
    ['direct:', 'must be an smtp|not a URL'],
    ['smtp://mail.example?sendmail=true&path=/bin/sh', 'parameter "sendmail"'],
    ['smtp://mail.example?logger=true', 'parameter "logger"'],
    ['smtp://mail.example?tls.__proto__=1&__proto__=2', 'parameter "__proto__"'],
    [7, 'server.host'],
  ])('SECURITY 1.3: server %j is refused', (server, message) => {
    const provider = merged(nodemailer({ server: server as never }))
    expect(() => validateProvider(provider)).toThrow(AuthError)
    expect(() => validateProvider(provider)).toThrow(new RegExp(message))
    expect(() => validateProvider(provider)).toThrow('Email provider "nodemailer": option "server')
  })

  it('SECURITY 1.3: an error does not repeat a password', () => {
    const provider = merged(nodemailer({ server: 'smtp://user:secret-canary@mail.example?x=1' }))
    let message = ''
    try {
      validateProvider(provider)
    } catch (error) {
      message = (error as Error).message
    }
    expect(message).toContain('parameter "x"')
    expect(message).not.toContain('canary')
  })
})
