/** Logins that wait for something: a second factor, terms of use, a captcha. Types only. */
import type { StampOfAccess } from './access.ts'
import type { Login, Proof } from './login.ts'

/** How a login is parked. */
export interface ParkOptions {
  /** Page that continues the login: a route of a plugin below the base path, or a page of the app. */
  to: `/${string}`
  /** Default 600, at most 3600. */
  seconds?: number
  /** Plain data of the plugin that parks the login. */
  data?: unknown
  /** Who parks it. Default: the plugin that has the route `to`; a page of the host must name it. */
  by?: string
}
/** A login that waits. */
export interface Parked<D = unknown> {
  /** Names it, opens nothing: the key for counting tries. */
  readonly id: string
  /** What forms and links carry on as `flow`, so that several tabs do not disturb each other. */
  readonly flow: string
  /** The login that waits. */
  readonly login: Login
  /** The plugin that parked it. */
  readonly by: string
  /** What that plugin keeps with it. */
  readonly data: D
  /** The state of the user's access when the sign-in began: `ctx.access.assert` says whether it still holds. */
  readonly access: StampOfAccess
  /** When it is too late. */
  readonly expires: Date
}
/** Options of continuing a parked login. */
export interface ResumeOptions {
  /** What was proved meanwhile; joined with what was proved before. */
  proof?: Partial<Proof>
  /** Further plugins that let it go on. */
  passed?: readonly string[]
}
