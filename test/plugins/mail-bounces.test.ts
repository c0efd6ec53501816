/** Reports of mailers stop mails to an address: signatures, what counts, and what the host lifts. Each mailer's own form, as its documentation shows it. */
import { execFileSync } from 'node:child_process'
import { createHmac, createSign } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAuth } from 'authkernel'
import { definePlugin, type Kernel } from 'authkernel/kernel'
import { type BouncesOptions, mailPlugin } from 'authkernel/plugins/mail'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { baseConfig } from '../_setup.ts'

const secret = `whsec_${Buffer.from('a signing secret of the webhook').toString('base64')}`
const topic = 'arn:aws:sns:eu-central-1:123456789012:bounces'
const every: BouncesOptions = {
  resend: { secret },
  postmark: { username: 'postmark', password: 'a long password for it' },
  mailgun: { signingKey: 'key-0123456789abcdef' },
  ses: { topics: [topic] },
}
const folder = mkdtempSync(join(tmpdir(), 'sns-'))
let key: string
let certificate: string
beforeAll(() => {
  const [keyFile, certFile] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  execFileSync(
    'openssl',
    ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', keyFile, '-out', certFile, '-days', '1', '-subj', '/CN=sns.amazonaws.com'],
    { stdio: 'ignore' },
  )
  key = readFileSync(keyFile, 'utf8')
  certificate = readFileSync(certFile, 'utf8')
})
afterAll(() => rmSync(folder, { recursive: true }))

async function host(bounces: BouncesOptions | null = every) {
  const sent: string[] = []
  const fetched: string[] = []
  const base = baseConfig({ adapter: memoryAdapter() })
  const runtime = Object.assign(base.runtime, {
    fetch: async (input: string | URL | Request) => {
      const url = String(input instanceof Request ? input.url : input)
      fetched.push(url)
      return new Response(url.endsWith('.pem') ? certificate : '<ok/>')
    },
  })
  let kernel: Kernel | undefined
  const auth = createAuth({ ...base, runtime })
    .use(mailPlugin({ transport: { send: async ({ to }) => void sent.push(to) }, from: 'a@app.example', ...(bounces && { bounces }) }))
    .use(definePlugin({ name: 'probe', setup: (given) => void (kernel = given) }))
  await auth.ready()
  const post = async (mailer: string, body: unknown, headers: Record<string, string> = {}): Promise<number> => {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    const response = await auth.handler(
      new Request(`http://localhost:3000/auth/mail/bounces/${mailer}`, {
        method: 'POST',
        body: text,
        headers: { 'content-type': 'application/json', ...headers },
      }),
    )
    return response.status
  }
  const mail = async (to: string): Promise<string[]> => {
    const ctx = await kernel!.contextOf(new Request('http://localhost:3000/'))
    await ctx.service('mail').send(ctx, to, 'pages.deleted', { at: ctx.now })
    return sent.splice(0)
  }
  const now = (): number => Math.floor(runtime.now() / 1000)
  const resend = (body: object, at = now(), id = 'msg_1', key = secret): Promise<number> => {
    const text = JSON.stringify(body)
    const signature = createHmac('sha256', Buffer.from(key.replace('whsec_', ''), 'base64'))
      .update(`${id}.${at}.${text}`)
      .digest('base64')
    return post('resend', text, { 'svix-id': id, 'svix-timestamp': String(at), 'svix-signature': `v1,AAAA v1,${signature}` })
  }
  return { auth, post, mail, now, resend, fetched, runtime }
}
const postmarkLogin = { authorization: `Basic ${Buffer.from('postmark:a long password for it').toString('base64')}` }

describe('reports', () => {
  it('Resend: a hard bounce and a complaint stop mails to the address, in any spelling of it', async () => {
    const { auth, resend, mail } = await host()
    expect(await mail('ada@mail.example')).toEqual(['ada@mail.example'])
    expect(
      await resend({ type: 'email.bounced', data: { to: ['Ada@Mail.example'], bounce: { type: 'Transient', subType: 'MailboxFull' } } }),
    ).toBe(200)
    expect(await mail('ada@mail.example')).toEqual(['ada@mail.example'])
    expect(
      await resend({ type: 'email.bounced', data: { to: ['Ada <Ada@Mail.example>'], bounce: { type: 'Permanent', subType: 'General' } } }),
    ).toBe(200)
    expect(await mail('ada@mail.example')).toEqual([])
    expect(await mail('bob@mail.example')).toEqual(['bob@mail.example'])
    expect(await resend({ type: 'email.complained', data: { to: ['bob@mail.example'] } })).toBe(200)
    expect(await mail('BOB@mail.example')).toEqual([])
    expect(await auth.mailBounces.list()).toMatchObject([
      { email: expect.any(String), mailer: 'resend' },
      { email: expect.any(String), mailer: 'resend' },
    ])
    expect(await auth.mailBounces.remove('Ada@mail.example')).toBe(true)
    expect(await auth.mailBounces.remove('ada@mail.example')).toBe(false)
    expect(await mail('ada@mail.example')).toEqual(['ada@mail.example'])
  })

  it('Postmark, Mailgun and SES in their own forms', async () => {
    const { auth, post, mail, now, fetched } = await host()
    expect(await post('postmark', { RecordType: 'Bounce', Type: 'HardBounce', Email: 'p@mail.example' }, postmarkLogin)).toBe(200)
    expect(await post('postmark', { RecordType: 'Bounce', Type: 'SoftBounce', Email: 'soft@mail.example' }, postmarkLogin)).toBe(200)
    const signed = (token: string) => ({
      timestamp: String(now()),
      token,
      signature: createHmac('sha256', 'key-0123456789abcdef').update(`${now()}${token}`).digest('hex'),
    })
    expect(
      await post('mailgun', {
        signature: signed('t1'),
        'event-data': { event: 'failed', severity: 'permanent', recipient: 'm@mail.example' },
      }),
    ).toBe(200)
    expect(
      await post('mailgun', {
        signature: signed('t2'),
        'event-data': { event: 'failed', severity: 'temporary', recipient: 'soft@mail.example' },
      }),
    ).toBe(200)
    const message = JSON.stringify({
      notificationType: 'Bounce',
      bounce: { bounceType: 'Permanent', bouncedRecipients: [{ emailAddress: 's@mail.example' }] },
    })
    expect(await post('ses', sns({ Type: 'Notification', Message: message }))).toBe(200)
    const complaint = JSON.stringify({ eventType: 'Complaint', complaint: { complainedRecipients: [{ emailAddress: 'c@mail.example' }] } })
    expect(await post('ses', sns({ Type: 'Notification', Message: complaint, Subject: 'Amazon SES' }))).toBe(200)
    expect((await auth.mailBounces.list()).map(({ email, reason, mailer }) => `${email} ${reason} ${mailer}`).sort()).toEqual([
      'c@mail.example complaint ses',
      'm@mail.example bounce mailgun',
      'p@mail.example bounce postmark',
      's@mail.example bounce ses',
    ])
    expect(await mail('soft@mail.example')).toEqual(['soft@mail.example'])
    expect(fetched).toEqual(Array(2).fill('https://sns.eu-central-1.amazonaws.com/cert.pem'))
  })

  it('SNS is confirmed, at Amazon alone', async () => {
    const { post, fetched } = await host()
    const subscription = { Type: 'SubscriptionConfirmation', Message: 'You have chosen to subscribe', Token: 'tok' }
    const good = 'https://sns.eu-central-1.amazonaws.com/?Action=ConfirmSubscription'
    expect(await post('ses', sns({ ...subscription, SubscribeURL: good }))).toBe(200)
    expect(fetched.at(-1)).toBe(good)
    expect(await post('ses', sns({ ...subscription, SubscribeURL: 'https://169.254.169.254/latest' }))).toBe(400)
    expect(fetched.at(-1)).not.toContain('169.254')
  })
})

describe('who may report', () => {
  it('no signature, a wrong one, an old one and one over another body are refused', async () => {
    const { auth, post, resend, now } = await host()
    const body = { type: 'email.complained', data: { to: ['ada@mail.example'] } }
    expect(await post('resend', body)).toBe(401)
    expect(await resend(body, now() - 301)).toBe(401)
    expect(await resend(body, now() + 301)).toBe(401)
    expect(await resend(body, now(), 'msg_1', `whsec_${Buffer.from('another secret').toString('base64')}`)).toBe(401)
    expect(await post('postmark', { RecordType: 'SpamComplaint', Email: 'ada@mail.example' }, { authorization: 'Basic eDp5' })).toBe(401)
    for (const signature of [
      undefined,
      {},
      { timestamp: String(now()), token: 't', signature: 'x' },
      { timestamp: 'x', token: 't', signature: createHmac('sha256', 'key-0123456789abcdef').update('xt').digest('hex') },
    ])
      expect(await post('mailgun', { signature, 'event-data': { event: 'complained', recipient: 'ada@mail.example' } })).toBe(401)
    const message = JSON.stringify({
      notificationType: 'Complaint',
      complaint: { complainedRecipients: [{ emailAddress: 'ada@mail.example' }] },
    })
    const notification = sns({ Type: 'Notification', Message: message })
    for (const change of [
      { Message: message.replace('ada', 'bob') },
      { TopicArn: 'arn:aws:sns:eu-central-1:666666666666:mine' },
      { SignatureVersion: '1' },
      { SigningCertURL: 'https://evil.example/cert.pem' },
      { SigningCertURL: 'https://sns.eu-central-1.amazonaws.com.evil.example/cert.pem' },
      { SigningCertURL: 'http://sns.eu-central-1.amazonaws.com/cert.pem' },
      { Signature: 'AAAA' },
    ])
      expect([change, await post('ses', { ...notification, ...change })]).toEqual([change, 401])
    expect(await auth.mailBounces.list()).toEqual([])
  })

  it('what is no report is a clear 4xx, and an unknown mailer is 404', async () => {
    const { post } = await host()
    for (const body of ['', 'x', '[]', 'null', '7'])
      expect([body, await post('postmark', body, postmarkLogin)]).toEqual([body, body === '[]' ? 200 : 400])
    expect(await post('sendgrid', {})).toBe(404)
    expect(await post('postmark', { RecordType: 'Bounce', Type: 'HardBounce', Email: 7 }, postmarkLogin)).toBe(200)
    const { post: closed, auth } = await host(null)
    // There is no such route.
    expect(await closed('resend', {})).toBe(400)
    expect([await auth.mailBounces.list(), await auth.mailBounces.remove('a@b.example')]).toEqual([[], false])
    const { post: some } = await host({ resend: { secret } })
    expect(await some('mailgun', {})).toBe(404)
  })

  it('options that check nothing are refused', () => {
    for (const bounces of [
      { resend: { secret: '' } },
      { resend: {} },
      { mailgun: { signingKey: 'short' } },
      { postmark: { username: 'postmark', password: '' } },
      { ses: { topics: [] } },
      { sendgrid: {} },
    ])
      expect(() => mailPlugin({ bounces: bounces as never })).toThrow(/Plugin "mail"/)
  })
})

/** A message of SNS, signed as Amazon signs it: version 2. */
function sns(given: Record<string, string>): Record<string, string> {
  const message: Record<string, string> = { MessageId: 'm1', TopicArn: topic, Timestamp: '2026-11-24T00:00:00.000Z', ...given }
  const names =
    message['Type'] === 'Notification'
      ? ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type']
      : ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type']
  const text = names.flatMap((name) => (message[name] === undefined ? [] : [`${name}\n${message[name]}\n`])).join('')
  const Signature = createSign('RSA-SHA256').update(text).sign(key, 'base64')
  return { ...message, SignatureVersion: '2', Signature, SigningCertURL: 'https://sns.eu-central-1.amazonaws.com/cert.pem' }
}
