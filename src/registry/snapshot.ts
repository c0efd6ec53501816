/** One compiled kernel: what requests read. Types only. */
import type { App, Context } from '../contract/context.ts'
import type { Awaitable, CookieSet } from '../contract/data.ts'
import type { ProviderFlow } from '../contract/flow.ts'
import type { Observer } from '../contract/observer.ts'
import type { Provider } from '../contract/provider.ts'
import type { RecordTable } from '../contract/records.ts'
import type { Services } from '../contract/services.ts'
import type { Settings } from '../contract/config.ts'
import type { Moments } from '../runtime/shared.ts'
import type { DeclaredRecord } from '../store/record-spec.ts'
import type { AuthError } from '../errors/index.ts'
import type { Credential, Draft } from './draft.ts'
import type { HookBus } from './hooks.ts'

/** One frozen snapshot. What plugins may see of it is `view`. */
export interface Snapshot extends App {
  readonly view: App
  /** The services of one tenant; '' gives `services`. */
  scoped(namespace: string): Readonly<Partial<Services>>
  /** Orders requests and the endings of access. */
  readonly moments: Moments
  /** Whether deletions of users and accounts have a listener, rows that go with them, or logins that wait. */
  readonly watchesStore: boolean
  /** What plugins require. */
  readonly required: ReadonlySet<string>
  /** First segments of the paths that exist with a provider and without one. */
  readonly providerPaths: ReadonlySet<string>
  /** Declared records by name. */
  readonly records: ReadonlyMap<string, DeclaredRecord>
  readonly bus: HookBus
  readonly observers: readonly Observer[]
  /** Of `kernel.credential`. */
  readonly credentials: readonly Credential[]
  /** What plugins do when access ends. */
  readonly endSteps: Draft['endSteps']
  readonly flows: ReadonlyMap<string, ProviderFlow<Provider>>
  /** Cookies of a request's settings, for http or https. */
  cookies(settings: Settings, secure: boolean): CookieSet
  /** The provider with the URLs of a base. */
  addressed(provider: Provider, base: string): Provider
  /** A provider that came at run time: normalised and checked once per object. Throws its configuration error. */
  dynamic(provider: Provider): Promise<Provider>
  /** `checked`: whether `check` is over. */
  readonly found: { readonly fault: AuthError | undefined; readonly checked: boolean }
  /** Looks for mistakes in the options; the first one is in `fault` afterwards. */
  check(): Awaitable<unknown>
  /** Who registered what, for `inspect()`. */
  readonly draft: Draft
}

/** A context as the kernel's own code sees it. */
export interface KernelContext extends Context {
  readonly compiled: Snapshot
  /** Credentials in the headers of the request. */
  readonly presented: readonly string[]
  /** Number of the moment at which the request began. */
  readonly begun: number
  /** A record of the kernel itself, which `Records` does not list. */
  ownRecords<T extends Record<string, unknown>>(name: string): RecordTable<T>
  /** Throws HttpError 400 for two different credentials. */
  assertOneCredential(): void
  /** Throws HttpError 400: a credential in a header is the one of the request, so that it begins no session of a browser. */
  assertNoCredential(): void
  /** Throws the reason when the caller was already told that it failed (D31). */
  assertAwaited(): void
}
