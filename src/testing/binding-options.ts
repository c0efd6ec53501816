/** What the contract of bindings needs, and what its rules work with. Types only. */
import type { AuthConfig } from 'authkernel'
import type { Plugin } from 'authkernel/kernel'
import type { BindingPerson, Client } from './binding-client.ts'

/** A running app. */
export interface BindingHost {
  /** `http://127.0.0.1:3000` */
  origin: string
  close(): Promise<void>
}
/** Routes of the app itself. */
export interface BindingPaths {
  /** GET: the session as JSON, `null` without one, read on the server. */
  session: string
  /** GET: the same, for users with a session only. */
  guarded: string
  /** POST: signs in with the fields of the form, from server code, then to `/in`. */
  login: string
  /** POST: signs out from server code, then to `/out`. */
  logout: string
}
/** What the contract has to know of a binding. */
export interface TestBindingOptions {
  /** Title of the group of tests. */
  name: string
  /** Starts the app with `bindingConfig(more)`, or with another provider and user. `plugins` are for `rootRoutes`. */
  start(more?: AuthConfig, plugins?: readonly Plugin[]): Promise<BindingHost>
  /** Default `/auth`. */
  basePath?: string
  /** Where the app has other paths than `/page`, `/guarded`, `/login` and `/logout`. */
  paths?: Partial<BindingPaths>
  /** Default: the user of `bindingConfig`. */
  person?: BindingPerson
  /** Says that `start` takes no options: an app that was built before. Rules that need other options are then left out. */
  fixed?: true
  /**
   * Says that the framework's own guard rejects with its own status or page: the rule then asks for a redirect alone. `own`: the
   * app rejects programs by itself, with 401.
   */
  guard?: 'redirect' | 'own'
  /** Says that `start` uses the plugins it is given, and that the app mounts root routes: the rule on paths below `/.well-known/` is then run. */
  rootRoutes?: true
  /** Says that the framework does not tell the address of the client: the rule on it is then left out. */
  address?: 'unknown'
}
/** What a rule works with. */
export interface BindingSubject {
  host(): BindingHost
  client(): Client
  start(more?: AuthConfig, plugins?: readonly Plugin[]): Promise<BindingHost>
  base: string
  paths: BindingPaths
  person: BindingPerson
}
