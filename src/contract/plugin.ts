/**
 * What a plugin may say. Everything here is types; `docs/architecture.md` tells the rules.
 * Third parties extend `ProviderTypes`, `Services`, `Hooks` and `Events` by declaration merging on `authkernel/kernel`.
 */
import type { Ending, EndStep } from './access.ts'
import type { AdapterMethod } from './adapter.ts'
import type { CookieHandle, CookieSpec, PendingList, PendingSpec } from './cookie.ts'
import type { Messages, ResolvedConfig, Settings } from './config.ts'
import type { AnyContext, Context, JobContext } from './context.ts'
import type { Awaitable, CookiesOptions } from './data.ts'
import type { ProviderFlow } from './flow.ts'
import type { EntryPoints, HandleOptions } from './entry-points.ts'
import type { Inspection } from './inspection.ts'
import type { MailTemplate } from './mail.ts'
import type { AnyEvent, EventHandler, Events, HookHandler, Hooks } from './messages.ts'
import type { Observer } from './observer.ts'
import type { AccountSection, PageDraw, SlotDraw, SlotPlace } from './page.ts'
import type { Provider, ProviderOf, ProviderType } from './provider.ts'
import type { Route } from './route.ts'
import type { RecordFields, RecordSpec } from './records.ts'
import type { CompileView, PageName, Runtime, Services } from './services.ts'
import type { SessionAbility, SessionStrategies, SessionStrategy } from './session.ts'

/** A service, `session:` and an ability of the session strategy, or `store:` and an operation of the adapter, or `nullableEmail`. */
export type Requirement = keyof Services | `session:${SessionAbility}` | `store:${AdapterMethod | 'nullableEmail'}`

/** A unit of behaviour: `setup` registers, synchronously and without I/O; what it returns lands on `auth`. */
export interface Plugin<Ext = unknown> {
  /** Appears in errors and in `inspect()`. */
  readonly name: string
  /** Services that must exist, abilities of the session strategy, operations of the adapter: checked at compile. */
  readonly requires?: readonly Requirement[]
  /** What it uses where it is there, such as `session:attributes`: strategies of this package then keep them. Never rejected. */
  readonly prefers?: readonly Requirement[]
  setup(kernel: Kernel): Ext
}

/** A record that is declared only where some plugin provides the service `records`, and where `when` says yes. */
export interface OptionalRecord {
  optional: true
  /** `needsTables`: a further record means a migration for the host. */
  when?: (requires: CompileView['requires'], facts: { needsTables: boolean }) => boolean
}

/** One plugin by its name, or several. An absent one is rejected at start, unless it is marked as `optional`. */
export type PluginOrder = string | { plugin: string; optional: true } | readonly (string | { plugin: string; optional: true })[]
/**
 * Where a handler stands among those of the same hook or event. Default: the order of `use()`. A circle is rejected at start. Plugins without a handler of
 * this hook or event change nothing.
 */
export interface HandlerPlace {
  /** Asked before the handlers of these plugins. */
  before?: PluginOrder | undefined
  /** Asked after the handlers of these plugins. */
  after?: PluginOrder | undefined
}

/** What `setup` registers with. */
export interface Kernel {
  /** As known now; read `ctx.settings` per request. */
  readonly config: ResolvedConfig
  /** Clock, randomness and `fetch`: use these, so that tests can inject theirs. */
  readonly runtime: Runtime
  /** Sets default options, below the options of the app: for example cookie names and key derivation of another product. */
  defaults(patch: Partial<Settings> & { cookies?: Partial<CookiesOptions>; trustProxyFollowsHost?: boolean }): void
  /** Declares a new hook and its kind (`guard`, `first` or `pipe`). */
  declareHook<K extends keyof Hooks>(
    name: K,
    verb: Hooks[K]['verb'],
    ...carry: Hooks[K] extends { carry: infer C extends string } ? [carry: C] : []
  ): void
  /** Declares events of this plugin, so that others may listen to them. Merge their messages into `Events`. */
  declareEvent<K extends keyof Events>(...names: K[]): void
  /**
   * Provides a service. It replaces one with `fallback`, and that one replaces one with `fallback: 'last'`. A factory can return `undefined` to decline.
   * Throws at compile where two services of the same rank remain.
   */
  provide<K extends keyof Services>(
    name: K,
    service: Services[K] | ((app: CompileView) => Services[K] | undefined),
    options?: { fallback?: true | 'last' },
  ): void
  /**
   * Wraps a service: members that `make` returns replace those of `inner`, all others stay. Decorators run once per snapshot, in the order of
   * `use()`: the first used is the innermost. Without the service they are left out. State that must outlive a snapshot goes to `view.shared`.
   */
  decorate<K extends keyof Services>(name: K, make: (inner: Services[K], view: CompileView) => Partial<Services[K]>): void
  /** A service of the default namespace, as it is at the time of the call: for APIs on `auth`. Throws in `setup`, and when no plugin provides it. */
  service<K extends keyof Services>(name: K): Services[K]
  /**
   * Declares a table of this plugin; `ctx.records(name)` reads and writes it. Merge the fields into `Records` for their types. Rejected at
   * compile: a name that another plugin declared, a key of more than four fields or 700 characters.
   */
  records<K extends string>(name: K, spec: RecordSpec<RecordFields<K>>, options?: OptionalRecord): void
  /**
   * Registers a session strategy under a name that `session.strategy` can say. Chosen is that one, else the only one that the host `.use()`d, else
   * the first whose `suits` answers true. `make` runs once per snapshot and throws what is wrong with the configuration. `remedies` say how a host gets
   * an ability that the strategy may lack. They complete a sentence that begins with "Use".
   */
  sessionStrategy<K extends keyof SessionStrategies>(
    name: K,
    make: (view: CompileView) => SessionStrategy,
    options?: { suits?: (view: CompileView) => boolean; remedies?: Readonly<Partial<Record<SessionAbility, string>>> },
  ): void
  /**
   * Says which credential a request carries in its headers: its text, or undefined for none. Called for every request; it must not wait. A request with one belongs to the credential alone, valid or not. Cookies of sessions and flows are neither read nor written for it, and it cannot sign in. Two different credentials get status 400. The hook `authenticate` says whose it is; without an answer the request is signed out. `header` is the one
   * that it is read from; default `authorization`.
   */
  credential(read: (headers: Headers) => string | undefined, options?: { header?: string }): void
  /**
   * Declares a kind of session: lower-case letters, at most 16. A session with the kind in `attributes.kinds` is signed out where this plugin is not in
   * use. The plugin wraps the service `session` and answers for such sessions: without its own row they are signed out. Two plugins with one kind are
   * rejected at compile.
   */
  sessionKind(kind: string): void
  /** A cookie of this plugin, or one that `createCookie` made. Two plugins with one name are rejected at compile. */
  cookie(name: string, spec?: CookieSpec): CookieHandle
  cookie(handle: CookieHandle): CookieHandle
  /** A sealed list of what a browser has under way, or one that `createPending` made. */
  pending<E extends object>(name: string, spec: PendingSpec<E>): PendingList<E>
  pending<E extends object>(list: PendingList<E>): PendingList<E>
  /** Adds a provider type. With `fallback` a flow of another plugin for the same type replaces it. */
  providerType<T extends ProviderType>(type: T, flow: ProviderFlow<ProviderOf<T>>, options?: { fallback?: true }): void
  /** Adds a provider. With `fallback` only where no other provider of its type was added. */
  provider(provider: Provider | (() => Provider), options?: { fallback?: true }): void
  /** Adds an HTTP route. Two plugins with one method and path are rejected at compile. */
  route(route: Route): void
  /**
   * A page of this plugin, drawn by `ctx.render(name)`. With `path` there is also a route: `GET` of it draws the page with the query as `params`,
   * and `ctx.page(name)` leads there. The host's `pages[name]` replaces it.
   */
  page(name: string, draw: PageDraw, options?: { path?: Route['path'] }): void
  /** Something on a page, also on one of another plugin, or on all of them (`*`); lower orders come first, default 0. */
  slot(page: PageName | '*', place: SlotPlace, draw: SlotDraw, order?: number): void
  /** Adds a section to the account page. */
  accountSection(section: AccountSection): void
  /**
   * Texts of this plugin by language. Keys begin with its name (`two-factor.title`, `twoFactor.title`), or are `error.<type>` and
   * `text:<label in English>`. `en` has every key. The host's `messages` go over them.
   */
  messages(texts: Messages): void
  /** A kind of mail, for `service('mail').send`. Names begin with the name of the plugin. */
  mailTemplate(name: string, template: MailTemplate): void
  /**
   * Adds a handler of a hook. Returns a function that removes it. Handlers of a `first` hook are asked in reverse order of `use()`; with `last` after all
   * others: what a login needs only once all proofs are there. `before` and `after` place it by the names of other plugins. `of` names the plugin that declares the hook, or several: without it nothing is asked.
   * A hook that no plugin declares is rejected at compile, unless `of` is given.
   */
  hook<K extends keyof Hooks>(
    name: K,
    handler: HookHandler<K>,
    options?: HandlerPlace & { of?: string | readonly string[]; last?: boolean },
  ): () => void
  /** A hook whose types are not here. To get them, write `import type {} from 'authkernel/plugins/<of>'`. */
  hook<N extends string, M extends object>(
    name: N extends keyof Hooks ? never : N,
    handler: (message: M) => unknown,
    options: HandlerPlace & { of: string | readonly string[]; last?: boolean },
  ): () => void
  /**
   * Listens to an event. Returns a function that ends it. `of` names the plugin that declares the event, or several, which may be absent. An event that no plugin
   * declares is rejected at compile, unless `of` is given or a plugin without declared events may fire it.
   */
  on<K extends keyof Events>(name: K, handler: EventHandler<K>, options?: HandlerPlace & { of?: string | readonly string[] }): () => void
  /** An event whose types are not here. */
  on<N extends string, M extends object>(
    name: N extends keyof Events | '*' ? never : N,
    handler: (message: M) => unknown,
    options: HandlerPlace & { of: string | readonly string[] },
  ): () => void
  /** Listens to every event, also those of other plugins. `session` fires at each session read, and is included only with `reads`. */
  on(name: '*', handler: (message: AnyEvent) => unknown, options?: HandlerPlace & { reads?: boolean }): () => void
  /** Observes requests, hooks, events and calls to other servers, for traces and metrics. It costs nothing if no plugin uses it. */
  observe(observer: Observer): void
  /** `ready({ warm: true })` calls this, beside the first request that needs it: `kernel.preload(() => import('./heavy.ts'))`. */
  preload(load: () => Promise<unknown>): void
  /** What is registered, by whom, as `auth.inspect()` tells it: for consoles. Not in `setup`, which is not done yet. */
  inspect(): Inspection
  /** The entry points of `auth`, for APIs of bindings; after `remove` they throw. */
  readonly entryPoints: EntryPoints
  /**
   * Ends what this plugin gave when access ends: codes, app sessions, keys. Steps run in the order of `EndStep`, after sessions of browsers. `end` answers
   * how many it ended, undefined where that is not known.
   */
  onAccessEnd(step: EndStep, end: (ctx: AnyContext, ending: Ending) => Awaitable<number | undefined | void>): void
  /** Runs at `auth.close()`, in the order of `use()`. `first`: before those without it, for what writes to a store at the end. */
  onClose(callback: () => Awaitable<void>, options?: { first?: boolean }): void
  /** The context of a request, or of a job for a tenant: for APIs on `auth`. Throws the configuration mistake. */
  contextOf(who: Request, options?: HandleOptions): Promise<Context>
  contextOf(who: JobTarget): Promise<JobContext>
  contextOf(who: Request | JobTarget): Promise<AnyContext>
  /** A response of an API on `auth`, with the cookies and headers that `ctx` of `contextOf(request)` has collected. Routes need none: the kernel does it for them. */
  answer(ctx: Context, response: Response): Response
  /** Does work without a request. */
  job<T>(target: JobTarget, work: (ctx: JobContext) => Awaitable<T>): Promise<T>
  /**
   * Whether a request is for a route of authkernel or of a plugin. True for all below the base path while the configuration is wrong, or while
   * the hook `settings` rejects the request: `handler` answers what the rejection says.
   */
  matches(request: Request, options?: HandleOptions): Promise<boolean>
  /**
   * Where `handler` answers a path: `base`, below the base path; `root`, a path at the origin's root that a plugin answers; undefined, the
   * path is the host's. With the base path `/` only routes are `base`. `basePath` is the one of a mount; default: the one of the options.
   */
  placeOf(pathname: string, basePath?: string): 'base' | 'root' | undefined
}

/** What a job is called, and whose it is. */
export interface JobTarget {
  job: string
  /**
   * Name of the tenant, as the hook `tenant` knows it; null: the default namespace. May be left out where no plugin answers the hooks
   * `settings` and `tenant`; elsewhere a job that does not say it is rejected.
   */
  tenant?: string | null
}

/** Which tenant an API on `auth` works for: the name as the hook `tenant` knows it, null for the default namespace. */
export interface OfTenant {
  /** May be left out where no plugin answers the hooks `settings` and `tenant`. */
  tenant?: string | null | undefined
}

// ---- types through `.use()`

/** What `.use()` adds to `auth`; nothing for a plugin without an API, nor for a careless `Plugin<any>`, which would swallow every other type. */
export type With<Ext, E> = 0 extends 1 & E ? Ext : E extends object ? Ext & E : Ext
