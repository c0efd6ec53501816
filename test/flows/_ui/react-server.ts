import type { Session } from 'authkernel'
import { createElement } from 'react'
import { renderToString } from 'react-dom/server.browser'
import { App } from './react-app.ts'

export const render = (session: Session | null): string => renderToString(createElement(App, { session }))
