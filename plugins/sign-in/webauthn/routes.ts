/** The routes of the type; paths that name nobody are answered like those of other actions (row 10). */
import { type Context, InvalidProvider, type Route, UnknownAction } from 'authkernel/kernel'
import { optionsRoute } from './options.ts'

/** For whoever provides the type in another way, as the switch on the experiment does. */
export const webauthnRoutes: readonly Route[] = [
  optionsRoute,
  { method: 'GET', path: '/webauthn-options', handler: namesNobody },
  { method: 'POST', path: '/webauthn-options', csrf: 'crossSite', handler: hasNoPost },
  { method: 'POST', path: '/webauthn-options/:provider', csrf: 'crossSite', handler: hasNoPost },
]

async function namesNobody(): Promise<never> {
  throw new InvalidProvider('The path /webauthn-options names no provider.')
}

async function hasNoPost({ basePath }: Context): Promise<never> {
  throw new UnknownAction(`POST is not a method of ${basePath}/webauthn-options.`)
}
