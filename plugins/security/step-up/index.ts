/** Asks users who are signed in for a fresh proof, before something that must not be done by a stolen session. */
import {
  assertOptions,
  type NoOptions,
  AuthError,
  type Context,
  type Kernel,
  type Plugin,
  type Session,
  isLocalPath,
} from 'authkernel/kernel'
import { hasFreshProof, leadToProof } from 'authkernel/kernel/strategies'
import { findOwnUser } from 'authkernel/kernel/users'

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
  /** `page` redirects, `api` returns 401; default: `page` for requests that accept HTML and carry no Authorization. */
  as?: 'page' | 'api' | undefined
}
/** What the plugin puts on `auth`. */
export interface StepUpApi {
  stepUp: {
    /**
     * The session when it was proved as demanded. Else a response to give: for pages a redirect through the factor, or through the sign-in page,
     * and back; for programs 401 with the challenge of RFC 9470. Throws AuthError for a demand of the wrong shape.
     */
    require(request: Request, demand?: StepUpDemand): Promise<Session | Response>
    /** Whether the session is proved as demanded; false for a visitor. */
    holds(request: Request, demand?: Omit<StepUpDemand, 'returnTo' | 'as'>): Promise<boolean>
  }
}

/** Puts `auth.stepUp` on `auth`. Needs a session strategy that keeps attributes; both built-in ones do. */
export function stepUpPlugin(options: NoOptions = {}): Plugin<StepUpApi> {
  assertOptions('Plugin "step-up"', options, {})
  return {
    name: 'step-up',
    requires: ['session:attributes'],
    setup: (kernel) => ({ stepUp: createApi(kernel) }),
  }
}

function createApi(kernel: Kernel): StepUpApi['stepUp'] {
  return {
    async require(request, demand = {}) {
      const ctx = await kernel.contextOf(request)
      const checked = checkDemand(demand)
      const session = await ctx.currentSession()
      if (session && (await isSatisfied(ctx, checked))) return session
      const { id } = session?.user ?? {}
      const { level, maxAge } = checked
      await ctx.emit('noted', {
        name: 'stepUp.required',
        outcome: 'denied',
        reason: level ?? 'age',
        user: { id },
        details: { level, maxAge },
      })
      if ((demand.as ?? requestKind(request)) === 'api') return challengeResponse(session !== null, checked)
      return kernel.answer(ctx, await redirectToProof(ctx, checked, request))
    },
    async holds(request, demand = {}) {
      const ctx = await kernel.contextOf(request)
      const session = await ctx.currentSession()
      return session !== null && isSatisfied(ctx, checkDemand(demand))
    },
  }
}

type ResolvedDemand = StepUpDemand & { maxAge: number }

const options = ['maxAge', 'level', 'acr', 'returnTo', 'as']

/** A demand of the wrong shape would be satisfied by too little: it throws, also for callers without types. */
function checkDemand(demand: StepUpDemand): ResolvedDemand {
  const refuse = (what: string): never => {
    throw new AuthError(`stepUp: ${what}`)
  }
  if (typeof demand !== 'object' || demand === null) refuse("the demand must be an object such as { maxAge: 300, level: 'mfa' }.")
  const unknown = Object.keys(demand).find((name) => !options.includes(name))
  if (unknown !== undefined) refuse(`"${unknown}" is no part of a demand. There are ${options.join(', ')}.`)
  const { maxAge = 300, level, acr, returnTo, as } = demand as { [K in keyof StepUpDemand]: unknown }
  if (typeof maxAge !== 'number' || !(maxAge >= 1 && maxAge <= 31_536_000)) return refuse('`maxAge` must be 1 to 31536000 seconds.')
  if (level !== undefined && level !== 'mfa') refuse(`\`level\` must be 'mfa', not ${JSON.stringify(level)}.`)
  if (acr !== undefined && !(Array.isArray(acr) && acr.length > 0 && acr.every((one) => typeof one === 'string' && one !== '')))
    refuse("`acr` must be a list of texts such as ['gold'].")
  if (returnTo !== undefined && !isLocalPath(returnTo)) refuse('`returnTo` must be a path that begins with one "/".')
  if (as !== undefined && as !== 'page' && as !== 'api') refuse("`as` must be 'page' or 'api'.")
  return { ...demand, maxAge }
}

/** False for sessions that are no proof of a user: API keys, bearer tokens, an administrator who acts as the user. */
async function isSatisfied(ctx: Context, { maxAge, level, acr }: ResolvedDemand): Promise<boolean> {
  if (!(await findOwnUser(ctx))) return false
  return hasFreshProof(ctx, { maxAge, level, acr })
}

async function redirectToProof(ctx: Context, demand: ResolvedDemand, request: Request): Promise<Response> {
  const { pathname, search } = new URL(request.url)
  const path = demand.returnTo ?? (request.method === 'GET' ? pathname + search : '/')
  const { level, maxAge, acr } = demand
  // A class that is fresh is not asked for again: the level is what is missing.
  const missing = acr && !(await hasFreshProof(ctx, { maxAge, acr })) ? acr : undefined
  return leadToProof(ctx, { maxAge, level, acr: missing }, ctx.origin + path)
}

/** RFC 9470 section 3, and RFC 6750 section 3 where the request is signed out. */
function challengeResponse(known: boolean, { maxAge, level, acr }: ResolvedDemand): Response {
  const classes = acr ?? (level ? [level] : [])
  const quoteText = (text: string): string => `"${text.replace(/["\\]/g, '')}"`
  const parts = known
    ? [
        'error="insufficient_user_authentication"',
        'error_description="Prove again who you are."',
        ...(classes.length > 0 ? [`acr_values=${quoteText(classes.join(' '))}`] : []),
        `max_age=${maxAge}`,
      ]
    : ['error="invalid_token"', 'error_description="No user is signed in."']
  return new Response(JSON.stringify({ error: known ? 'insufficient_user_authentication' : 'invalid_token' }), {
    status: 401,
    headers: { 'WWW-Authenticate': `Bearer ${parts.join(', ')}`, 'Content-Type': 'application/json', 'Cache-Control': 'no-store' },
  })
}

function requestKind({ headers }: Request): 'page' | 'api' {
  return !headers.has('authorization') && (headers.get('accept') ?? '').includes('text/html') ? 'page' : 'api'
}
