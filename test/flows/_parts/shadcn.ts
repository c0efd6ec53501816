/** The registry file of shadcn/ui in an app. */
import { SessionProvider } from 'authkernel/react'
import { createElement as h } from 'react'
import { createRoot } from 'react-dom/client'
import { SignIn } from '../../../src/react/shadcn/authkernel.tsx'

createRoot(document.querySelector('#app') as HTMLElement).render(h(SessionProvider, { children: h(SignIn, { redirectTo: '/after' }) }))
