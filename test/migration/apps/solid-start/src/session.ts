import { getSession } from '@auth/solid-start'
import { query, redirect } from '@solidjs/router'
import { getRequestEvent } from 'solid-js/web'
import { authOptions } from './auth'

export const currentSession = query(async () => {
  'use server'
  return getSession(getRequestEvent()!.request, authOptions)
}, 'session')

export const memberName = query(async () => {
  'use server'
  const session = await getSession(getRequestEvent()!.request, authOptions)
  if (!session?.user) throw redirect('/api/auth/signin?callbackUrl=/protected')
  return session.user.name
}, 'member')
