'use client'

import { SessionProvider, useSession } from 'next-auth/react'

export default function Page() {
  return (
    <SessionProvider>
      <Required />
    </SessionProvider>
  )
}

function Required() {
  const { data } = useSession({ required: true })
  return <p id="name">{data?.user?.name}</p>
}
