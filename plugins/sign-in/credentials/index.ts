/** Sign-in by what the host checks itself: passwords, codes, anything in a form (D54). */
import {
  type CredentialsConfig,
  lazily,
  type Plugin,
  type ProviderFlow,
  type ProviderOptionsOf,
  type ProviderOf,
  providerPlugin,
} from 'authkernel/kernel'
import { MissingAuthorize } from 'authkernel/errors'

import { isDemoAccount } from './demo.ts'

export { demoAccount, type DemoAccountOptions } from './demo.ts'

// A session read needs none of it.
const loadFinish = /* @__PURE__ */ lazily(() => import('./finish.ts'))

type Credentials = ProviderOptionsOf<'credentials'>

/** A record, so that the compiler finds what is missing. */
const optionNames: Record<keyof CredentialsConfig, true> = {
  id: true,
  name: true,
  type: true,
  signinUrl: true,
  callbackUrl: true,
  credentials: true,
  authorize: true,
  options: true,
}

const credentialsFlow: ProviderFlow<ProviderOf<'credentials'>> = {
  // A GET would put a password into a URL.
  callback: { GET: false, POST: 'token' },
  env: {},
  options: optionNames,

  validate(provider, _all, { logger }) {
    const { id, authorize } = provider
    if (isDemoAccount(provider))
      logger.warn(
        'demo-account',
        `Provider "${id}" is the demo account of \`authkernel init\`. Remove it when another sign-in method works.`,
      )
    if (typeof authorize !== 'function') {
      throw new MissingAuthorize(`Provider "${id}" (credentials) has no \`authorize\`: give it a function that returns the user, or null.`)
    }
  },

  // Without fields there is nothing to show: such a provider is for a form of the host's own (row 278).
  form: ({ credentials }) => ({ post: 'callback', fields: credentials ?? {}, hidden: credentials === undefined }),

  finish: async (ctx, provider) => (await loadFinish()).finishCredentialsSignIn(ctx, provider),
}

/** Registers the type `credentials` and adds the given providers; `id` defaults to `credentials`. */
export const credentialsPlugin: (...providers: (Credentials | (() => Credentials))[]) => Plugin<void> = /* @__PURE__ */ providerPlugin({
  type: 'credentials',
  flow: credentialsFlow,
  defaults: { id: 'credentials', name: 'Credentials' },
  setup: (kernel) => kernel.preload(async () => loadFinish()),
})
