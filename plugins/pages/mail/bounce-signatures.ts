/** Whether a report comes from the mailer: each signs in its own way, over the bytes or over parts of them. Throws HttpError 401 for any other. */
import { bytes, type Context, equal, fromBase64, HttpError, toBase64, toHex } from 'authkernel/kernel'
import { importX509 } from 'jose'
import type { BouncesOptions } from './options.ts'

type Json = Readonly<Record<string, unknown>>

// Seconds that a signature may be old. Mailgun repeats for 8 hours what was not taken, with the signature of the first time.
const age = { resend: 300, mailgun: 12 * 3600 }

/** Svix, as Resend uses it: an HMAC-SHA256 over id, time and body. */
export async function checkResend(
  { request, now }: Context,
  text: string,
  { secret }: NonNullable<BouncesOptions['resend']>,
): Promise<void> {
  const header = (name: string): string => request.headers.get(`svix-${name}`) ?? request.headers.get(`webhook-${name}`) ?? ''
  const [id, time] = [header('id'), header('timestamp')]
  assertTime(Number(time), now, age.resend)
  const key = fromBase64(secret.replace(/^whsec_/, ''))
  const wanted = toBase64(await signHmac(key, `${id}.${time}.${text}`))
  // Several signatures, while the secret is changed.
  const given = header('signature').split(' ').slice(0, 8)
  const matches = await Promise.all(given.map((one) => isSame(one, `v1,${wanted}`)))
  if (id === '' || !matches.includes(true)) throw refusal()
}

/** Postmark signs nothing: the address of the webhook has a name and a password (RFC 7617). */
export async function checkPostmark({ request }: Context, { username, password }: NonNullable<BouncesOptions['postmark']>): Promise<void> {
  const wanted = `Basic ${toBase64(bytes(`${username}:${password}`))}`
  if (!(await isSame(request.headers.get('authorization') ?? '', wanted))) throw refusal()
}

/** Mailgun: an HMAC-SHA256 over a time and a token, which counts once. */
export async function checkMailgun(ctx: Context, body: Json, { signingKey }: NonNullable<BouncesOptions['mailgun']>): Promise<void> {
  const { timestamp, token, signature } = Object(body['signature']) as Json
  if (typeof token !== 'string' || token.length > 128 || typeof signature !== 'string') throw refusal()
  assertTime(Number(timestamp), ctx.now, age.mailgun)
  if (!(await isSame(signature, toHex(await signHmac(bytes(signingKey), `${String(timestamp)}${token}`))))) throw refusal()
}

/** SNS: an RSA signature over named members, with a certificate of Amazon. Only version 2 (SHA-256) is taken. */
export async function checkSns(ctx: Context, body: Json, { topics }: NonNullable<BouncesOptions['ses']>): Promise<void> {
  const { TopicArn: topic, SignatureVersion: version, Signature: signature, SigningCertURL: address } = body
  if (typeof topic !== 'string' || !topics.includes(topic) || version !== '2' || typeof signature !== 'string') throw refusal()
  const url = amazonUrl(address)
  if (!url?.pathname.endsWith('.pem')) throw refusal()
  const response = await ctx.runtime.fetch(url, { redirect: 'error', signal: ctx.signal })
  const pem = response.ok ? (await response.text()).slice(0, 16_384) : ''
  const key = await importX509(pem, 'RS256').catch(() => undefined)
  const signed = bytes(signedText(body))
  if (!key || !(await crypto.subtle.verify('RSASSA-PKCS1-v1_5', key, fromBase64(signature), signed))) throw refusal()
}

/** A URL of SNS itself; undefined for any other. */
export function amazonUrl(address: unknown): URL | undefined {
  const url = typeof address === 'string' && URL.canParse(address) ? new URL(address) : undefined
  return url?.protocol === 'https:' && url.port === '' && /^sns\.[a-z0-9-]{1,40}\.amazonaws\.com(?:\.cn)?$/.test(url.hostname)
    ? url
    : undefined
}

function signedText(body: Json): string {
  const names =
    body['Type'] === 'Notification'
      ? ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type']
      : ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type']
  return names.flatMap((name) => (typeof body[name] === 'string' ? [`${name}\n${body[name]}\n`] : [])).join('')
}

async function signHmac(key: Uint8Array<ArrayBuffer>, text: string): Promise<Uint8Array<ArrayBuffer>> {
  const imported = await crypto.subtle.importKey('raw', key, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
  return new Uint8Array(await crypto.subtle.sign('HMAC', imported, bytes(text)))
}

async function isSame(given: string, wanted: string): Promise<boolean> {
  return equal(given, wanted)
}

function assertTime(seconds: number, now: Date, most: number): void {
  if (!(Math.abs(now.getTime() / 1000 - seconds) <= most)) throw refusal()
}

function refusal(): HttpError {
  return new HttpError(401, 'The signature is missing, wrong or too old.')
}
