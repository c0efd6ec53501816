import { action, query } from '@solidjs/router'
import { getRequestEvent } from 'solid-js/web'
import { CredentialsSignin } from 'authkernel/bindings/solid-start'
import { auth } from './auth'

export const getSession = query(async () => {
  'use server'
  return auth.session(getRequestEvent()!)
}, 'session')

export const requireSession = query(async () => {
  'use server'
  return auth.requireSession(getRequestEvent()!)
}, 'required-session')

export const signIn = action(async (form: FormData) => {
  'use server'
  const { providerId, ...fields } = Object.fromEntries(form)
  try {
    throw await auth.signIn(getRequestEvent()!, String(providerId), { fields, redirectTo: '/' })
  } catch (error) {
    if (error instanceof CredentialsSignin) return { code: error.code }
    // The redirect is thrown, too.
    throw error
  }
}, 'sign-in')

export const signOut = action(async () => {
  'use server'
  throw await auth.signOut(getRequestEvent()!, { redirectTo: '/' })
}, 'sign-out')
