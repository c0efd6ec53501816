/** All parts, one in each address, in Solid without JSX. */
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
} from 'authkernel/solid'
import { createComponent, type JSX } from 'solid-js'
import { render } from 'solid-js/web'

const lang = new URLSearchParams(location.search).get('lang') ?? undefined
const text = (id: string, textContent: string): JSX.Element => Object.assign(document.createElement('p'), { id, textContent })
const pages: Record<string, () => JSX.Element> = {
  '/sign-in': () => createComponent(SignIn, { redirectTo: '/after', lang }),
  '/sign-up': () => createComponent(SignUp, { redirectTo: '/after', lang }),
  '/account': () => createComponent(AccountPage, { lang }),
  '/organization': () => [
    createComponent(OrganizationSwitcher, { organizationUrl: '/organization', lang }),
    createComponent(OrganizationPage, { lang }),
  ],
  '/keys': () => createComponent(ApiKeys, { lang }),
  '/after': () => [
    createComponent(UserButton, { accountUrl: '/account', signInUrl: '/sign-in', redirectTo: '/after', lang }),
    createComponent(Protect, {
      children: text('secret', 'allowed'),
      fallback: text('secret', 'refused'),
      pending: text('secret', 'pending'),
    }),
    createComponent(Protect, { permission: 'member:remove', children: text('removing', 'allowed'), fallback: text('removing', 'refused') }),
  ],
}

render(
  () =>
    createComponent(SessionProvider, {
      get children() {
        return pages[location.pathname]?.()
      },
    }),
  document.querySelector('#app') as HTMLElement,
)
