/** One compiled kernel as plugins see it. Types only. */
import type { AuthError } from '../errors/index.ts'
import type { Store } from './adapter.ts'
import type { ResolvedConfig } from './config.ts'
import type { MailTemplate } from './mail.ts'
import type { PageParts } from './page.ts'
import type { Provider } from './provider.ts'
import type { Routes } from './route.ts'
import type { Shared } from './runtime.ts'
import type { Services } from './services.ts'
import type { Settings } from './settings.ts'

/** A compiled kernel. It is frozen, and a request keeps the one it began with. */
export interface App {
  /** The options of the host with their defaults. */
  readonly config: ResolvedConfig
  /** Those of no request: read `ctx.settings` for the ones of this request. */
  readonly settings: Settings
  /** Providers of the list by id, without those that the `provider` hook brings. */
  readonly providers: ReadonlyMap<string, Provider>
  /** Routes of the kernel and of all plugins. */
  readonly routes: Routes
  /** Parts of pages and texts that plugins registered. */
  readonly parts: PageParts
  /** Templates by name. */
  readonly mailTemplates: ReadonlyMap<string, MailTemplate>
  /** Services by name; absent ones are undefined. */
  readonly services: Readonly<Partial<Services>>
  /** The adapter, without the namespace of a request. */
  readonly store: Store | undefined
  /** Names of the plugins, in their order. */
  readonly plugins: readonly string[]
  /** Kinds of sessions that plugins declared. */
  readonly sessionKinds: ReadonlySet<string>
  /** State that several snapshots share: caches and requests under way. */
  readonly shared: Shared
  /** The first configuration mistake; no request is served until it is gone. Options are checked before the first request. */
  readonly fault: AuthError | undefined
}
