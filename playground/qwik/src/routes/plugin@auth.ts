import { QwikAuth$ } from 'authkernel/bindings/qwik'
import { auth } from '../auth'

// The function stays on the server.
export const { onRequest, useSession, useSignIn, useSignOut } = QwikAuth$(() => auth)
