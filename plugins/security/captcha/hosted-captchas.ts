/** Captchas of others: Turnstile, hCaptcha and reCAPTCHA ask and judge; their tokens are checked by a call from server to server. */
import { assertOptions, AuthError, boundedFetch, type Context } from 'authkernel/kernel'
import type { Captcha, CaptchaVerdict } from './options.ts'

/** Options of `turnstile`, `hcaptcha` and `recaptcha`. */
export interface HostedCaptchaOptions {
  /** Public key of the site. */
  siteKey: string
  /** Goes to the service alone. */
  secretKey: string
  /** Host names on which a token may have been solved; default: the own one. */
  hostnames?: readonly string[]
}
/** Options of `recaptcha`. */
export interface RecaptchaOptions extends HostedCaptchaOptions {
  /** Least score of a key that scores, 0 to 1; default 0.5. Keys with a checkbox have no score. */
  minScore?: number
}

interface Service {
  name: string
  field: string
  className: string
  script: string
  verify: string
  scripts: readonly string[]
  frames: readonly string[]
  connects?: readonly string[]
  images?: readonly string[]
}

/** Cloudflare Turnstile. */
export function turnstile(options: HostedCaptchaOptions): Captcha {
  assertOptions('turnstile', options, { siteKey: true, secretKey: true, hostnames: true })
  const origin = 'https://challenges.cloudflare.com'
  return createHosted(options, {
    name: 'turnstile',
    field: 'cf-turnstile-response',
    className: 'cf-turnstile',
    script: `${origin}/turnstile/v0/api.js`,
    verify: `${origin}/turnstile/v0/siteverify`,
    scripts: [origin],
    frames: [origin],
  })
}

/** hCaptcha. */
export function hcaptcha(options: HostedCaptchaOptions): Captcha {
  assertOptions('hcaptcha', options, { siteKey: true, secretKey: true, hostnames: true })
  const assets = 'https://newassets.hcaptcha.com'
  return createHosted(options, {
    name: 'hcaptcha',
    field: 'h-captcha-response',
    className: 'h-captcha',
    script: 'https://js.hcaptcha.com/1/api.js',
    verify: 'https://api.hcaptcha.com/siteverify',
    scripts: ['https://js.hcaptcha.com', assets],
    frames: [assets],
    connects: ['https://api.hcaptcha.com', assets],
  })
}

/** Google reCAPTCHA v2 (checkbox and invisible). */
export function recaptcha(given: RecaptchaOptions): Captcha {
  assertOptions('recaptcha', given, { siteKey: true, secretKey: true, hostnames: true, minScore: true })
  const { minScore = 0.5, ...options } = given
  const google = 'https://www.google.com'
  const service = {
    name: 'recaptcha',
    field: 'g-recaptcha-response',
    className: 'g-recaptcha',
    script: `${google}/recaptcha/api.js`,
    verify: `${google}/recaptcha/api/siteverify`,
    scripts: [google, 'https://www.gstatic.com'],
    frames: [google, 'https://recaptcha.google.com'],
    images: ['https://www.gstatic.com'],
  }
  return createHosted(options, service, minScore)
}

function createHosted({ siteKey, secretKey, hostnames }: HostedCaptchaOptions, service: Service, minScore = 0): Captcha {
  for (const [option, value] of Object.entries({ siteKey, secretKey })) {
    if (typeof value !== 'string' || value === '')
      throw new AuthError(`${service.name}: \`${option}\` is missing. Take it from the dashboard of the service.`)
  }
  const { name, field, className, script, scripts, frames, connects = [], images = [] } = service
  return {
    name,
    field,
    draw: (_ctx, { html, say, lang }) => ({
      html: html`<div class="captcha">
          <div class="${className}" data-sitekey="${siteKey}" data-language="${lang}"></div>
          <noscript><p>${say('captcha.noScript')}</p></noscript>
        </div>
        <script src="${script}" async defer></script>`,
      sources: { script: scripts, frame: frames, connect: connects, img: images },
    }),
    describe: () => ({ name, siteKey, field }),
    verify: (ctx, token) =>
      askService(ctx, service, { secretKey, hostnames: hostnames ?? [new URL(ctx.origin).hostname], minScore }, token),
  }
}

interface Demands {
  secretKey: string
  hostnames: readonly string[]
  minScore: number
}

async function askService(
  ctx: Context,
  { name, verify }: Service,
  { secretKey, hostnames, minScore }: Demands,
  token: string,
): Promise<CaptchaVerdict> {
  const { deadlines, limits } = ctx.app.config
  const body = new URLSearchParams({ secret: secretKey, response: token, ...(ctx.clientAddress && { remoteip: ctx.clientAddress }) })
  const send = boundedFetch({ fetch: ctx.runtime.fetch, deadline: deadlines.network, limit: limits.providerResponse, signal: ctx.signal })
  try {
    const answer = await send(verify, { method: 'POST', body })
    const { success, hostname, score, 'error-codes': codes } = Object(await answer.json()) as Record<string, unknown>
    const faults = Array.isArray(codes) ? codes.map(String) : []
    // A mistake of the host app: no user could ever get in, and the log must say why.
    const wrongKey = faults.find((code) => /secret|internal|bad-request/.test(code))
    if (!answer.ok || wrongKey) throw new Error(wrongKey ? `it says ${wrongKey.slice(0, 80)}` : `it answered ${answer.status}`)
    if (success !== true || (typeof hostname === 'string' && !hostnames.includes(hostname))) return 'wrong'
    return typeof score === 'number' && score < minScore ? 'wrong' : 'solved'
  } catch (error) {
    const err = error instanceof Error ? error : new Error(String(error))
    ctx.logger.error(new AuthError(`captchaPlugin: ${name} could not check a token: ${err.message.replaceAll(secretKey, '***')}`))
    return 'unavailable'
  }
}
