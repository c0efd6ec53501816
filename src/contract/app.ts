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

/** Frozen: a request keeps the one it began with. */
export interface App {
  readonly config: ResolvedConfig
  /** Those of no request: read `ctx.settings` for the ones of this request. */
  readonly settings: Settings
  /** Providers of the list by id, without those that the `provider` hook brings. */
  readonly providers: ReadonlyMap<string, Provider>
  readonly routes: Routes
  /** What plugins draw and say. */
  readonly parts: PageParts
  readonly mailTemplates: ReadonlyMap<string, MailTemplate>
  readonly services: Readonly<Partial<Services>>
  readonly store: Store | undefined
  /** Names of the plugins, in their order. */
  readonly plugins: readonly string[]
  readonly shared: Shared
  /** The first configuration mistake; no request is served until it is gone. */
  readonly fault: AuthError | undefined
}
