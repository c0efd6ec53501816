/** What a host, a binding and the API of a plugin ask of a kernel: requests, sessions, jobs. */
import type { Store } from '../contract/adapter.ts'
import type { ResolvedConfig } from '../contract/config.ts'
import type { AnyContext } from '../contract/context.ts'
import type { EntryPoints, HandleOptions } from '../contract/entry-points.ts'
import type { JobTarget, Kernel, OfTenant } from '../contract/plugin.ts'
import type { Services } from '../contract/services.ts'
import { raw } from '../contract/symbols.ts'
import { AuthError, HttpError } from '../errors/index.ts'
import { isBelow, pathBelow } from '../http/path.ts'
import type { KernelParts } from '../registry/registration.ts'
import type { Snapshot } from '../registry/snapshot.ts'
import { overlay } from '../registry/overlay.ts'
import type { JobContext } from '../request/common-context.ts'
import type { RequestContext } from '../request/request-context.ts'
import { lazily } from '../runtime/lazy.ts'

// Registering and compiling need no context: the first request loads it. A host that reads sessions only never loads what routes need.
const serving = /* @__PURE__ */ lazily(() => import('../request/serving.ts'))
const routing = /* @__PURE__ */ lazily(() => import('../request/dispatch.ts'))
const failing = /* @__PURE__ */ lazily(() => import('../request/failure.ts'))
const maintaining = /* @__PURE__ */ lazily(() => import('./maintenance.ts'))

type Serving = typeof import('../request/serving.ts')

/** The target of `kernel.contextOf` for what a caller of an API named, where it is given no request. */
export function jobFor(job: string, { tenant }: OfTenant = {}): JobTarget {
  return tenant === undefined ? { job } : { job, tenant }
}

/** The snapshot of the moment: dropped by each registration, made by the next request. */
export interface Current {
  compiled: Snapshot | undefined
  compile(): Snapshot
}

/** Everything that reads the snapshot. */
export function createEntryPoints(current: Current, config: ResolvedConfig): Omit<KernelParts, 'config' | 'invalidate' | 'inspect'> {
  /** Of the snapshot that is there when the request comes. */
  async function contextFor(request: Request, options: HandleOptions = {}, canSetCookies = true): Promise<RequestContext> {
    const app = snapshot()
    if (!app.found.checked) await app.check()
    const { RequestContext, resolveSettings } = serving.loaded ?? (await serving())
    const settings = app.bus.has('hook', 'settings') ? await resolveSettings(app, request, options) : app.settings
    return new RequestContext(app, request, settings, options, canSetCookies)
  }
  const snapshot = (): Snapshot => (current.compiled ??= current.compile())
  const sound = (): Snapshot => {
    const app = snapshot()
    if (app.fault) throw app.fault
    return app
  }
  const checkSnapshot = async (): Promise<Snapshot> => {
    const app = snapshot()
    if (app.found.checked) return sound()
    await app.check()
    return checkSnapshot()
  }

  const placeOf: Kernel['placeOf'] = (pathname, basePath = config.basePath) => {
    const { fault, routes } = snapshot()
    if (routes.findRoot('GET', pathname)) return 'root'
    if (basePath !== '/' || fault) return isBelow(basePath, pathname) ? 'base' : undefined
    // The whole site is below it: what is no route is a page of the host.
    const path = pathBelow(basePath, pathname, snapshot())
    if (path === undefined) return undefined
    return routes.find('GET', path) ? 'base' : undefined
  }

  const entryPoints: EntryPoints = {
    async handler(request, options) {
      let ctx: RequestContext
      try {
        ctx = await contextFor(request, options)
      } catch (error) {
        config.logger.error(error instanceof HttpError ? (error.reason ?? error) : (error as Error))
        return (await failing()).bareFailure(error)
      }
      return (routing.loaded ?? (await routing())).dispatch(ctx, config.raw === raw)
    },
    async dispatch(request, options) {
      const ctx = await contextFor(request, options)
      return (routing.loaded ?? (await routing())).dispatch(ctx, true)
    },
    async session(request, options) {
      const ctx = await contextFor(request, options, false)
      if (ctx.compiled.fault) throw ctx.compiled.fault
      return ctx.currentSession()
    },
    async read(request, options) {
      const ctx = await contextFor(request, options)
      if (ctx.compiled.fault) throw ctx.compiled.fault
      const session = await ctx.currentSession()
      const headers = new Headers()
      ctx.jar.write(headers)
      return { session, headers }
    },
    async ready({ warm = false, ...waiting } = {}) {
      const app = await checkSnapshot()
      const [{ checkSurroundings }, { laterLoads }] = await Promise.all([maintaining(), serving()])
      await Promise.all([
        checkSurroundings(app, waiting),
        ...(warm ? [routing, ...laterLoads, ...app.draft.preloads].map((load) => load()) : []),
      ])
    },
    cleanup: async (run) => {
      const contextOf = (tenant: string | null): Promise<JobContext> => jobContext({ job: 'cleanup', tenant })
      return (await maintaining()).cleanUp(contextOf, run)
    },
    reseal: async ({ tenant, onProgress } = {}) =>
      (await maintaining()).resealAll(await jobContext({ job: 'reseal', ...(tenant !== undefined && { tenant }) }), onProgress),
    login: {
      async parked<D>(request: Request, by: string, options?: HandleOptions) {
        await checkSnapshot()
        return (await contextFor(request, options)).parked<D>(by)
      },
      async resume(request, by, more, options) {
        await checkSnapshot()
        const ctx = await contextFor(request, options)
        const parked = await ctx.parked(by)
        return (await serving()).finishResponse(ctx, parked ? await ctx.resume(parked, more) : ctx.page('signIn'))
      },
    },
    get rootPaths() {
      return snapshot().routes.rootPaths
    },
  }

  async function jobContext(target: JobTarget): Promise<JobContext> {
    const app = await checkSnapshot()
    const { JobContext, resolveTenant } = await serving()
    return new JobContext(app, await resolveTenant(app, target), target.job)
  }

  return {
    entryPoints,
    contextOf: (async (who: Request | JobTarget, options?: HandleOptions): Promise<AnyContext> => {
      if (!(who instanceof Request)) return jobContext(who)
      await checkSnapshot()
      return contextFor(who, options)
    }) as Kernel['contextOf'],
    // A caller with a context has loaded it.
    answer: (ctx, response) => (serving() as Serving).finishResponse(ctx as RequestContext, response),
    job: async (target, work) => work(await jobContext(target)),
    placeOf,
    async matches(request, options) {
      const { pathname } = new URL(request.url)
      let ctx: RequestContext
      try {
        ctx = await contextFor(request, options)
      } catch (error) {
        if (error instanceof HttpError) return placeOf(pathname, options?.basePath) !== undefined
        throw error
      }
      const { basePath, compiled } = ctx
      const path = pathBelow(basePath, pathname, compiled)
      // A mistake in the configuration leaves no routes: answering says what is wrong, passing on would say 404.
      if (compiled.fault) return path !== undefined
      return (
        (path !== undefined && compiled.routes.find(request.method, path) !== undefined) ||
        compiled.routes.findRoot(request.method, pathname) !== undefined
      )
    },
    service<K extends keyof Services>(name: K): Services[K] {
      const app = sound()
      const service = name === 'store' && app.watchesStore ? watchStore(app) : app.services[name]
      if (!service) throw new AuthError(`No plugin provides the service "${name}".`)
      return service as Services[K]
    },
  }
}

/** The store outside of requests. Deleting a user and an account is asked about and told there too. */
function watchStore(app: Snapshot): Store | undefined {
  const { store } = app.services
  const own = async (): Promise<Store> => {
    const [{ JobContext }] = await Promise.all([serving(), app.found.checked || app.check()])
    return new JobContext(app, app.settings, 'service').store as Store
  }
  return (
    store &&
    overlay<Store>(store, {
      deleteUser: async (id) => (await own()).deleteUser(id),
      unlinkAccount: async (key) => (await own()).unlinkAccount(key),
    })
  )
}
