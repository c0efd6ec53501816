/** Asks people who are signed in to prove again who they are, before something that must not be done by a stolen session. */
import {
  AuthError,
  type Context,
  type Kernel,
  type Login,
  type Plugin,
  redirectTo,
  type Session,
  type SessionAttributes,
} from 'authkernel/kernel'

/** What a page or a call needs. */
export interface StepUpDemand {
  /** How many seconds ago the proof may be; default 300. */
  maxAge?: number | undefined
  /** `mfa`: two factors, the second one proved within `maxAge`. Default: any proof. */
  level?: 'mfa' | undefined
  /** Authentication context classes, one of which the session must have (`acr`). */
  acr?: readonly string[] | undefined
  /** Path of the page to come back to; default: the address of a GET, else `/`. A body is never kept. */
  returnTo?: string | undefined
  /** `page` redirects, `api` answers 401; default: `page` for requests that accept HTML and carry no Authorization. */
  as?: 'page' | 'api' | undefined
}
/** What the plugin puts on `auth`. */
export interface StepUpApi {
  stepUp: {
    /**
     * The session when it was proved as demanded. Else a response to give: for people a redirect through the factor, or through the sign-in page,
     * and back; for programs 401 with the challenge of RFC 9470. Throws AuthError for a demand of the wrong shape.
     */
    require(request: Request, demand?: StepUpDemand): Promise<Session | Response>
    /** Whether the session is proved as demanded; false for nobody. */
    holds(request: Request, demand?: Omit<StepUpDemand, 'returnTo' | 'as'>): Promise<boolean>
  }
}

/** Puts `auth.stepUp` on `auth`. Needs a session strategy that keeps attributes; both of ours do. */
export function stepUpPlugin(): Plugin<StepUpApi> {
  return {
    name: 'step-up',
    requires: ['session:attributes'],
    setup: (kernel) => ({ stepUp: api(kernel) }),
  }
}

function api(kernel: Kernel): StepUpApi['stepUp'] {
  return {
    async require(request, demand = {}) {
      const ctx = await kernel.contextOf(request)
      const checked = check(demand)
      const session = await ctx.currentSession()
      if (session && (await satisfied(ctx, session, checked))) return session
      const { id } = session?.user ?? {}
      const { level, maxAge } = checked
      await ctx.emit('noted', { name: 'stepUp.required', outcome: 'denied', user: { id }, details: { level, maxAge } })
      if ((demand.as ?? kindOf(request)) === 'api') return challenge(session !== null, checked)
      return kernel.answer(ctx, await lead(ctx, session, checked, request))
    },
    async holds(request, demand = {}) {
      const ctx = await kernel.contextOf(request)
      const session = await ctx.currentSession()
      return session !== null && satisfied(ctx, session, check(demand))
    },
  }
}

type Checked = StepUpDemand & { maxAge: number }

function check(demand: StepUpDemand): Checked {
  const { maxAge = 300, returnTo } = demand
  if (!(maxAge >= 1 && maxAge <= 31_536_000)) throw new AuthError('stepUp: `maxAge` must be 1 to 31536000 seconds.')
  // A path of the own origin: `//host` and `/\host` name another one.
  if (returnTo !== undefined && !/^\/(?![/\\])/.test(returnTo))
    throw new AuthError('stepUp: `returnTo` must be a path that begins with one "/".')
  return { ...demand, maxAge }
}

async function satisfied(ctx: Context, session: Session, { maxAge, level, acr }: Checked): Promise<boolean> {
  const attributes = await proofOf(ctx, session)
  if (!attributes || (acr && !acr.includes(attributes.acr ?? ''))) return false
  const times = Object.entries(attributes.methods)
  const counted = level === 'mfa' ? times.filter(([method]) => secondFactors.has(method)) : times
  if (level === 'mfa' && attributes.factors !== 2) return false
  const newest = Math.max(attributes.authTime * (level === 'mfa' ? 0 : 1), ...counted.map(([, at]) => at))
  const now = Math.floor(ctx.now.getTime() / 1000)
  // A time from the future is a clock that was moved, and proves nothing.
  return newest > 0 && newest <= now + 60 && now - newest <= maxAge
}

// RFC 8176: what a second factor adds. A password or a mailed link that was proved again is no second factor.
const secondFactors = new Set(['otp', 'hwk', 'swk', 'mfa', 'sms', 'fpt', 'face', 'pop'])

/** What the person proved; null for sessions that are no proof of a person: API keys, bearer tokens, somebody who acts as another person. */
async function proofOf(ctx: Context, session: Session): Promise<SessionAttributes | null> {
  const { apiKey, bearer, actor } = session as { apiKey?: unknown; bearer?: unknown; actor?: unknown }
  if (apiKey !== undefined || bearer !== undefined || actor !== undefined) return null
  return (await ctx.session.attributes?.(ctx)) ?? null
}

async function lead(ctx: Context, session: Session | null, demand: Checked, request: Request): Promise<Response> {
  const { pathname, search } = new URL(request.url)
  const path = demand.returnTo ?? (request.method === 'GET' ? pathname + search : '/')
  const callbackUrl = ctx.origin + path
  const again: Login | null = session ? await ctx.loginAgain({ callbackUrl }) : null
  const asked = again && { login: again, level: demand.level, maxAge: demand.maxAge, acr: demand.acr }
  // A factor of this site first, then the provider of the session.
  const answered = asked && ((await ctx.ask('stepUp', asked)) ?? (await ctx.app.services.oauth?.stepUp?.(ctx, asked)))
  // Without a factor the first method is proved again: whoever signs in there comes back with a new session.
  return answered ?? redirectTo(`${ctx.base}/signin?callbackUrl=${encodeURIComponent(callbackUrl)}`)
}

/** RFC 9470 section 3, and RFC 6750 section 3 where nobody is signed in. */
function challenge(known: boolean, { maxAge, level, acr }: Checked): Response {
  const classes = acr ?? (level ? [level] : [])
  const quoted = (text: string): string => `"${text.replace(/["\\]/g, '')}"`
  const parts = known
    ? [
        'error="insufficient_user_authentication"',
        'error_description="Prove again who you are."',
        ...(classes.length > 0 ? [`acr_values=${quoted(classes.join(' '))}`] : []),
        `max_age=${maxAge}`,
      ]
    : ['error="invalid_token"', 'error_description="Nobody is signed in."']
  return new Response(JSON.stringify({ error: known ? 'insufficient_user_authentication' : 'invalid_token' }), {
    status: 401,
    headers: { 'WWW-Authenticate': `Bearer ${parts.join(', ')}`, 'Content-Type': 'application/json', 'Cache-Control': 'no-store' },
  })
}

function kindOf({ headers }: Request): 'page' | 'api' {
  return !headers.has('authorization') && (headers.get('accept') ?? '').includes('text/html') ? 'page' : 'api'
}
