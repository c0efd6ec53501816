/** All parts, one in each address, in Vue. */
import {
  AccountPage,
  ApiKeys,
  OrganizationPage,
  OrganizationSwitcher,
  Protect,
  sessionPlugin,
  SignIn,
  SignUp,
  UserButton,
} from 'authkernel/vue'
import { type Component, createApp, h, type VNode } from 'vue'

const lang = new URLSearchParams(location.search).get('lang') ?? undefined
const draw = (component: unknown, props: object = {}): VNode => h(component as Component, { lang, ...props })
const text = (id: string, words: string) => () => h('p', { id }, words)
const pages: Record<string, () => VNode | VNode[]> = {
  '/sign-in': () => draw(SignIn, { redirectTo: '/after' }),
  '/sign-up': () => draw(SignUp, { redirectTo: '/after' }),
  '/account': () => draw(AccountPage),
  '/organization': () => [draw(OrganizationSwitcher, { organizationUrl: '/organization' }), draw(OrganizationPage)],
  '/keys': () => draw(ApiKeys),
  '/after': () => [
    draw(UserButton, { accountUrl: '/account', signInUrl: '/sign-in', redirectTo: '/after' }),
    h(
      Protect as Component,
      {},
      { default: text('secret', 'allowed'), fallback: text('secret', 'refused'), pending: text('secret', 'pending') },
    ),
    h(
      Protect as Component,
      { permission: 'member:remove' },
      { default: text('removing', 'allowed'), fallback: text('removing', 'refused') },
    ),
  ],
}

createApp({ render: () => pages[location.pathname]?.() })
  .use(sessionPlugin())
  .mount('#app')
