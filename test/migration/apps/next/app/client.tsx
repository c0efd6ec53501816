'use client'

import { useSession } from 'next-auth/react'

export function Client() {
  const { data, status } = useSession()
  return <p id="client">{status === 'loading' ? 'loading' : (data?.user?.name ?? 'nobody')}</p>
}
