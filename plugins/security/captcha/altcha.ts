/** ALTCHA: a proof of work of this server: no other server hears of it, and users click on no pictures. */
import { assertOptions, AuthError, type Context, HttpError } from 'authkernel/kernel'
import type { Captcha, CaptchaVerdict } from './options.ts'

/** Options of `altcha`. */
export interface AltchaOptions {
  /** Iterations of PBKDF2 for one try; default 2000. */
  cost?: number
  /** What the derived key must begin with, in hex: each digit makes it 16 times as much work. Default `00`: 256 tries. */
  prefix?: string
  /** Seconds in which it must be sent; default 300. */
  seconds?: number
  /** Imports `altcha-lib`, for bundlers that do not find it; default: `import('altcha-lib')`. */
  lib?: () => Promise<unknown>
}
type Library = typeof import('altcha-lib')
/** The parts of `altcha-lib` that are used. */
type AltchaLibrary = Pick<Library, 'createChallenge' | 'verifySolution'>
type Challenge = Awaited<ReturnType<Library['createChallenge']>>

const purpose = 'captcha-altcha'
const algorithm = 'PBKDF2/SHA-256'

/** Proof of work by `altcha-lib`. The browser solves it while the user types. */
export function altcha(options: AltchaOptions = {}): Captcha {
  assertOptions('altcha', options, { cost: true, prefix: true, seconds: true, lib: true })
  const { cost = 2_000, prefix = '00', seconds = 300, lib = loadAltcha } = options
  if (!Number.isSafeInteger(cost) || cost < 1 || cost > 1_000_000)
    throw new AuthError('altcha: `cost` must be a whole number from 1 to 1,000,000.')
  if (!/^[0-9a-f]{1,8}$/.test(prefix)) throw new AuthError('altcha: `prefix` must be 1 to 8 hex digits.')
  const challenge = async (ctx: Context, action: string): Promise<Challenge> => {
    const { createChallenge } = (await lib()) as AltchaLibrary
    // The end is in `data`, by the clock of the kernel; the signature covers it.
    const until = Math.floor(ctx.runtime.now() / 1000) + seconds
    const hmacSignatureSecret = await ctx.digest(purpose, `challenge ${action}`)
    return createChallenge({ algorithm, cost, keyPrefix: prefix, data: { until }, deriveKey: deriveAltchaKey, hmacSignatureSecret })
  }
  return {
    name: 'altcha',
    field: 'altcha',
    async draw(ctx, { html, say }, _form, action) {
      const json = JSON.stringify(await challenge(ctx, action))
      const texts = html`data-working="${say('captcha.working')}" data-done="${say('captcha.done')}" data-failed="${say('captcha.failed')}"`
      return {
        html: html`<div class="captcha" data-altcha="${json}" ${texts}>
          <input type="hidden" name="altcha" />
          <p role="status"></p>
        </div>`,
        scripts: [altchaScript],
      }
    },
    async describe(ctx, action) {
      // A challenge for no form would be good for every one.
      if (!/^\/.{1,200}$/.test(action))
        throw new HttpError(400, 'Name the form: GET /captcha?action=/signin/mail, the path that it posts to.')
      return challenge(ctx, action)
    },
    verify: async (ctx, token, action) => checkSolution(ctx, (await lib()) as AltchaLibrary, token, action, seconds),
  }
}

async function checkSolution(
  ctx: Context,
  { verifySolution }: AltchaLibrary,
  token: string,
  action: string,
  seconds: number,
): Promise<CaptchaVerdict> {
  const { challenge, solution } = parseSolution(token)
  const until = challenge?.parameters?.data?.['until']
  const left = typeof until === 'number' ? until - ctx.runtime.now() / 1000 : 0
  if (!challenge || !solution || !(left > 0 && left <= seconds) || challenge.parameters.algorithm !== algorithm) return 'wrong'
  for (const hmacSignatureSecret of await ctx.digests(purpose, `challenge ${action}`)) {
    // The signature is checked before any work is done, so the work is what this server asked for, for this form.
    const { verified, invalidSignature } = await verifySolution({ challenge, solution, deriveKey: deriveAltchaKey, hmacSignatureSecret })
    if (invalidSignature) continue
    return verified && (await ctx.once.take(`altcha ${challenge.signature}`, seconds)) ? 'solved' : 'wrong'
  }
  return 'wrong'
}

interface SentSolution {
  challenge?: Challenge
  solution?: { counter: number; derivedKey: string }
}

// As the official widget sends it: JSON in base64.
function parseSolution(token: string): SentSolution {
  try {
    const value: unknown = JSON.parse(atob(token))
    const { challenge, solution } = Object(value) as SentSolution
    return typeof challenge?.signature === 'string' && typeof challenge.parameters === 'object' && challenge.parameters !== null && solution
      ? { challenge, solution }
      : {}
  } catch {
    return {}
  }
}

async function deriveAltchaKey(
  { cost, keyLength }: { cost: number; keyLength: number },
  salt: Uint8Array,
  password: Uint8Array,
): Promise<{ derivedKey: Uint8Array }> {
  const key = await crypto.subtle.importKey('raw', new Uint8Array(password), 'PBKDF2', false, ['deriveBits'])
  const bits = await crypto.subtle.deriveBits(
    { name: 'PBKDF2', hash: 'SHA-256', salt: new Uint8Array(salt), iterations: cost },
    key,
    keyLength * 8,
  )
  return { derivedKey: new Uint8Array(bits) }
}

async function loadAltcha(): Promise<AltchaLibrary> {
  try {
    return await import('altcha-lib')
  } catch (error) {
    const err = error instanceof Error ? error : new Error(String(error))
    throw new AuthError('captchaPlugin(altcha()) needs the package altcha-lib: npm install altcha-lib', { cause: { err } })
  }
}

const altchaScript = `(() => {
  const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
  const raw = (text) => new Uint8Array(text.match(/../g).map((pair) => parseInt(pair, 16)))
  async function solve({ parameters: { nonce, salt, cost, keyLength, keyPrefix } }) {
    const start = raw(nonce)
    const password = new Uint8Array(start.length + 4)
    password.set(start)
    for (let counter = 0; ; counter++) {
      new DataView(password.buffer).setUint32(start.length, counter)
      const key = await crypto.subtle.importKey('raw', password, 'PBKDF2', false, ['deriveBits'])
      const bits = await crypto.subtle.deriveBits({ name: 'PBKDF2', hash: 'SHA-256', salt: raw(salt), iterations: cost }, key, keyLength * 8)
      const derivedKey = hex(new Uint8Array(bits))
      if (derivedKey.startsWith(keyPrefix)) return { counter, derivedKey }
    }
  }
  for (const box of document.querySelectorAll('[data-altcha]:not([data-ready])')) {
    box.dataset.ready = ''
    const form = box.closest('form')
    const [input, status] = [box.querySelector('input'), box.querySelector('[role=status]')]
    const challenge = JSON.parse(box.dataset.altcha)
    let work
    const begin = () => (work ??= solve(challenge).then((solution) => {
      input.value = btoa(JSON.stringify({ challenge, solution }))
      status.textContent = box.dataset.done
    }, () => {
      status.textContent = box.dataset.failed
    }))
    form.addEventListener('focusin', begin, { once: true })
    form.addEventListener('submit', (event) => {
      if (input.value) return
      event.preventDefault()
      event.stopImmediatePropagation()
      status.textContent = box.dataset.working
      const { submitter } = event
      begin().then(() => input.value && form.requestSubmit(submitter))
    }, true)
  }
})()`
