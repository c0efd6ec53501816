/** All parts, one in each address, in React. */
import {
  AccountPage,
  ApiKeys,
  OrganizationPage,
  OrganizationSwitcher,
  Protect,
  SessionProvider,
  SignIn,
  SignUp,
  UserButton,
} from 'authkernel/react'
import { createElement as h, type ReactNode } from 'react'
import { createRoot } from 'react-dom/client'

const lang = new URLSearchParams(location.search).get('lang') ?? undefined
const pages: Record<string, () => ReactNode> = {
  '/sign-in': () => h(SignIn, { redirectTo: '/after', lang }),
  '/sign-up': () => h(SignUp, { redirectTo: '/after', lang }),
  '/account': () => h(AccountPage, { lang }),
  '/organization': () => [
    h(OrganizationSwitcher, { key: 's', organizationUrl: '/organization', lang }),
    h(OrganizationPage, { key: 'o', lang }),
  ],
  '/keys': () => h(ApiKeys, { lang }),
  '/after': () => [
    h(UserButton, { key: 'u', accountUrl: '/account', signInUrl: '/sign-in', redirectTo: '/after', lang }),
    h(Protect, {
      key: 'p',
      fallback: h('p', { id: 'secret' }, 'refused'),
      pending: h('p', { id: 'secret' }, 'pending'),
      children: h('p', { id: 'secret' }, 'allowed'),
    }),
    h(Protect, {
      key: 'q',
      permission: 'member:remove',
      fallback: h('p', { id: 'removing' }, 'refused'),
      children: h('p', { id: 'removing' }, 'allowed'),
    }),
  ],
}

createRoot(document.querySelector('#app') as HTMLElement).render(h(SessionProvider, { children: pages[location.pathname]?.() }))
