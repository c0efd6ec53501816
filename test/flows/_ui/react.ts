import { createElement } from 'react'
import { createRoot, hydrateRoot } from 'react-dom/client'
import { App } from './react-app.ts'

const root = document.querySelector('#app') as HTMLElement
const app = createElement(App, { session: globalThis.rendered })
if (root.childElementCount > 0) hydrateRoot(root, app, { onRecoverableError: (error: unknown) => console.error('hydration', error) })
else createRoot(root).render(app)
