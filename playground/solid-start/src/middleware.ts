import { createMiddleware } from '@solidjs/start/middleware'
import { auth } from './auth'

// Puts `auth()` on `event.locals`.
export default createMiddleware({ onRequest: [auth.middleware] })
