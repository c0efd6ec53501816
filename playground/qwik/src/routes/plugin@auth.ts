import { serverAuth$ } from 'authkernel/bindings/qwik'
import { auth } from '../auth'

// Functions whose name begins with "server" are in no file that browsers get.
export const { onRequest, useSession, useSignIn, useSignOut } = serverAuth$(() => auth)
