/** The routes of the panel. `GET /dev?key=…` gives the cookie, `GET /dev` draws, `POST /dev` does what a form says. */
import { type Context, HttpError, type Kernel, redirectTo } from 'authkernel/kernel'
import { isAllowed, isForeign, isKey, requirePanel } from './guard.ts'
import type { ResolvedDevOptions } from './options.ts'
import { drawPanel } from './panel.ts'
import { signInAs } from './sign-in.ts'
import { type DevState, panelCookie } from './state.ts'

const longest = 400 * 86_400

/** The page and both routes. */
export function addPanel(kernel: Kernel, state: DevState, options: ResolvedDevOptions): void {
  kernel.page('dev', (ctx, tools, params) => drawPanel(kernel, state, options, ctx, tools, params))
  kernel.route({ method: 'GET', path: '/dev', handler: showPanel })
  kernel.route({ method: 'POST', path: '/dev', handler: (ctx) => postPanel(ctx, state, options) })
}

/** Throws HttpError for a browser that may not open the panel. */
async function showPanel(ctx: Context): Promise<Response> {
  const key = ctx.url.searchParams.get('key')
  if (key !== null && isAllowed(ctx) && !isForeign(ctx.request.headers) && (await isKey(ctx, key))) {
    panelCookie.set(ctx, key)
    // Without the key, which would stay in the history.
    return redirectTo(`${ctx.base}/dev`)
  }
  await requirePanel(ctx)
  return ctx.render('dev', Object.fromEntries(ctx.url.searchParams))
}

/** `act` of the form: `signIn`, `clock` or `clear`. The CSRF token was checked before. */
async function postPanel(ctx: Context, state: DevState, options: ResolvedDevOptions): Promise<Response> {
  await requirePanel(ctx)
  const { act, user, seconds } = await ctx.body()
  if (act === 'signIn' && typeof user === 'string') return signInAs(ctx, user, options)
  if (act === 'clock') moveClock(state, Number(seconds))
  else if (act === 'clear') clear(state)
  else throw new HttpError(400, 'The development panel has no such act.')
  return redirectTo(`${ctx.base}/dev?tab=${act === 'clock' ? 'clock' : 'requests'}`)
}

/** Forwards only: rows of the future would break what compares times. 0 sets the clock to the real time. */
function moveClock(state: DevState, seconds: number): void {
  if (!Number.isInteger(seconds) || seconds < 0 || seconds > longest)
    throw new HttpError(400, `The clock moves forward by 1 to ${longest} seconds, or back to the real time with 0.`)
  state.offset = seconds === 0 ? 0 : state.offset + seconds * 1000
}

function clear(state: DevState): void {
  state.requests.length = 0
  state.mails.length = 0
  state.answers.clear()
}
