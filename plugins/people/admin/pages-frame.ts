/** What every page of the console is drawn with. */
import { AuthError, type Context, HttpError, type PageTools } from 'authkernel/kernel'
import type { AdminActs, AdminRights } from './methods.ts'
import type { AdminAct } from './options.ts'

/** A rejection of what was asked for: shown, not logged as a fault. */
export function isRefusal(error: unknown): error is AuthError | HttpError {
  return (error instanceof AuthError || error instanceof HttpError) && error.status < 500
}

/** The query of a page. */
export type Params = Readonly<Record<string, string | undefined>>
/** What a page is drawn with. */
export interface PageRequest {
  acts: AdminActs
  ctx: Context
  tools: PageTools
  params: Params
  rights: AdminRights
  /** Whether the role has the act. Without roles `can` decides when it is done. */
  may(act: AdminAct): boolean
}
