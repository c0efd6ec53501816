/** TOTP (RFC 6238) after every way of signing in. */
import { AuthError, equal, type Login, type Plugin, type User } from 'authkernel/kernel'

declare module 'authkernel/kernel' {
  interface Records {
    secondFactor: { person: string; secret: string }
  }
  interface Events {
    secondFactorFailed: { user: User; provider: string }
  }
}
class WrongCode extends AuthError {
  static override type = 'WrongCode'
  static override row = { page: 'error' as const, status: 400, visible: true }
}

export function secondFactorPlugin({ issuer = 'App' }: { issuer?: string } = {}): Plugin {
  return {
    name: 'second-factor',
    requires: ['records', 'limit'],
    setup(kernel) {
      kernel.records('secondFactor', {
        fields: { person: { type: 'string' }, secret: { type: 'text', sealed: true } },
        unique: [['person']],
      })
      kernel.messages({
        en: {
          'second-factor.title': 'Enter your code',
          'second-factor.add': 'Add this key to your app:',
          'second-factor.code': 'Code',
          'second-factor.go': 'Go on',
          'error.WrongCode': 'That code does not fit.',
        },
      })

      kernel.hook('login', async ({ login, ctx }) => {
        const known = await ctx.records('secondFactor').get({ person: login.person })
        return ctx.park(login, { to: '/second-factor', data: { secret: known ? undefined : base32(ctx.runtime.random(20)) } })
      })

      kernel.page(
        'secondFactor',
        async (ctx, { html, say, form, field, submit, alert }, { error }) => {
          const parked = await ctx.parked<{ secret?: string }>('second-factor')
          if (!parked) return ctx.page('signIn')
          const { secret } = parked.data
          return {
            title: say('second-factor.title'),
            body: [
              alert(error),
              secret &&
                html`<p>
                  ${say('second-factor.add')} <a href="${addressOf(issuer, parked.login, secret)}"><code>${secret}</code></a>
                </p>`,
              await form('/second-factor', [
                field('code', { label: 'Code', inputmode: 'numeric', autocomplete: 'one-time-code', required: true }),
                submit(say('second-factor.go')),
              ]),
            ],
          }
        },
        { path: '/second-factor' },
      )

      kernel.route({
        method: 'POST',
        path: '/second-factor',
        flow: 'callback',
        async handler(ctx) {
          const parked = await ctx.parked<{ secret?: string }>()
          if (!parked) return ctx.page('signIn')
          const { user, account, person } = parked.login
          const { allowed } = await ctx.limit.take(`second-factor ${person}`, { max: 5, seconds: 300 })
          const known = await ctx.records('secondFactor').get({ person })
          const secret = known?.secret ?? parked.data.secret
          const { code } = await ctx.body()
          const step = allowed && secret ? await stepOf(secret, String(code), ctx.now) : undefined
          // A code is good for one sign-in: an attacker who looked over a shoulder comes too late.
          if (!secret || step === undefined || !(await ctx.once.take(`second-factor ${person} ${step}`, 120))) {
            await ctx.emit('secondFactorFailed', { user, provider: account.provider })
            return ctx.render('secondFactor', { error: new WrongCode().type })
          }
          await ctx.limit.refund(`second-factor ${person}`)
          if (!known) await ctx.records('secondFactor').create({ person, secret })
          return ctx.resume(parked, { proof: { amr: ['otp'], factors: 2 } })
        },
      })
    },
  }
}

function addressOf(issuer: string, { user }: Login, secret: string): string {
  const label = encodeURIComponent(`${issuer}:${user.email ?? user.name ?? ''}`)
  return `otpauth://totp/${label}?secret=${secret}&issuer=${encodeURIComponent(issuer)}`
}

async function stepOf(secret: string, code: string, now: Date): Promise<number | undefined> {
  const current = Math.floor(now.getTime() / 30_000)
  for (const step of [current, current - 1, current + 1]) if (equal(await totp(secret, step), code)) return step
  return undefined
}
/** The six digits of a time step. */
export async function totp(secret: string, step: number): Promise<string> {
  const key = await crypto.subtle.importKey('raw', unbase32(secret), { name: 'HMAC', hash: 'SHA-1' }, false, ['sign'])
  const counter = new DataView(new ArrayBuffer(8))
  counter.setBigUint64(0, BigInt(step))
  const mac = new DataView(await crypto.subtle.sign('HMAC', key, counter))
  return String((mac.getUint32(mac.getUint8(19) & 15) & 0x7fffffff) % 1_000_000).padStart(6, '0')
}
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
function base32(bytes: Uint8Array): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  return (bits.match(/.{5}/g) ?? []).map((five) => ALPHABET[Number.parseInt(five, 2)]).join('')
}
function unbase32(text: string): Uint8Array<ArrayBuffer> {
  const bits = [...text].map((letter) => ALPHABET.indexOf(letter).toString(2).padStart(5, '0')).join('')
  return Uint8Array.from(bits.match(/.{8}/g) ?? [], (eight) => Number.parseInt(eight, 2))
}
