/** Qwik City 1: `export const { onRequest, useSession, useSignIn, useSignOut } = serverAuth$((event) => config)` in `src/routes/plugin@auth.ts`. */
import { implicit$FirstArg, inlinedQrl } from '@builder.io/qwik'
import { globalActionQrl, routeLoaderQrl } from '@builder.io/qwik-city'
import { type AuthConfig, setEnvDefaults as setDefaults } from 'authkernel'
import { assertOptions, type NoOptions, customFetch as kernelFetch, type Plugin, type Session } from 'authkernel/kernel'
import { announceInstance } from './_shared/announce.ts'
import { checkSignIn, checkSignOut, createValidator } from './_qwik/input.ts'
import type { Failure, QwikAuth, QwikEvent, QwikApi, QwikSource, SignInInput, SignOutInput, Success } from './_qwik/types.ts'

export { AuthError, CredentialsSignin } from 'authkernel/kernel'
export type { Account, DefaultSession, Profile, Session, User } from 'authkernel/kernel'
export type { GuardOptions, SignInOptions } from './_shared/actions.ts'
export type * from './_qwik/types.ts'

/** The symbol for a provider's own fetch; undefined in the browser, which has no providers (row 316). */
export const customFetch: typeof kernelFetch | undefined = typeof window === 'undefined' ? kernelFetch : undefined

/** Puts `qwik` on `auth`; `QwikAuth$(() => auth)` makes the loader and the actions. */
export function qwikBinding(options: NoOptions = {}): Plugin<{ qwik: QwikApi }> {
  assertOptions('qwikBinding', options, {})
  return {
    name: 'qwik',
    setup(kernel) {
      const api = memoizeLoad(async () => (await import('./_qwik/qwik-server.ts')).qwikApi(() => kernel))
      const qwik: QwikApi = {
        onRequest: async (event) => (await api()).onRequest(event),
        session: async (event) => (await api()).session(event),
        requireSession: async (event, options) => (await api()).requireSession(event, options),
        signIn: async (event, provider, options) => (await api()).signIn(event, provider, options),
        signOut: async (event, options) => (await api()).signOut(event, options),
      }
      return { qwik }
    },
  }
}

/** `QwikAuth$` as Qwik's optimizer calls it. */
export function QwikAuthQrl(source: QwikSource): QwikAuth {
  const server = memoizeLoad(async () => (await import('./_qwik/qwik-server.ts')).apiOf(source))
  const api = async (event: QwikEvent): Promise<QwikApi> => (await server())(event)
  announceInstance(async (event) => (await import('./_qwik/qwik-server.ts')).instanceOf(source, event as QwikEvent))
  const useSession = routeLoaderQrl(
    inlinedQrl((event: QwikEvent) => (event.sharedMap.get('session') ?? null) as Session | null, 'useSession_authkernelSession'),
    { id: 'authkernel-session' },
  )
  const useSignIn = globalActionQrl<SignInInput, Success, Failure<keyof SignInInput>>(
    inlinedQrl(async ({ providerId, redirectTo, options, authorizationParams }: SignInInput, event: QwikEvent) => {
      const { redirectTo: other, ...fields } = options ?? {}
      await (await api(event)).signIn(event, providerId, { redirectTo: other ?? redirectTo, fields, authorizationParams, errors: 'page' })
      return {} as Success
    }, 'useSignIn_authkernelSignIn'),
    { id: 'authkernel-sign-in', validation: [createValidator(checkSignIn)] },
  )
  const useSignOut = globalActionQrl<SignOutInput, Success, Failure<keyof SignOutInput>>(
    inlinedQrl(async ({ redirectTo }: SignOutInput, event: QwikEvent) => {
      await (await api(event)).signOut(event, { redirectTo, errors: 'page' })
      return {} as Success
    }, 'useSignOut_authkernelSignOut'),
    { id: 'authkernel-sign-out', validation: [createValidator(checkSignOut)] },
  )
  return { useSession, useSignIn, useSignOut, onRequest: async (event) => (await api(event)).onRequest(event) }
}

/** The API of a configuration that is made for each request (rows 48, 305). The function stays on the server. */
export const QwikAuth$: (source: QwikSource) => QwikAuth = /* @__PURE__ */ implicit$FirstArg(QwikAuthQrl)

/**
 * `QwikAuth$` by a name that begins with "server": Qwik's optimizer leaves such functions out of what browsers are sent, so the options,
 * and whatever they import, are in no file of the client.
 */
export const serverAuth$: typeof QwikAuth$ = QwikAuth$
/** `serverAuth$` as Qwik's optimizer calls it. */
export const serverAuthQrl: typeof QwikAuthQrl = QwikAuthQrl

/** Fills options that are undefined from the environment of an event: `setEnvDefaults(event.env, config)`. Writes to `config`. */
export function setEnvDefaults(env: QwikEvent['env'], config: AuthConfig): void {
  setDefaults((name) => env.get(name), config)
}

function memoizeLoad<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () => (made ??= make())
}
