import type { Session } from 'authkernel'
import { renderToString } from 'vue/server-renderer'
import { make } from './vue-app.ts'

export const render = (session: Session | null): Promise<string> => renderToString(make(session, true))
