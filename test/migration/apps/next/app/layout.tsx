import type { ReactNode } from 'react'
import { SessionProvider } from 'next-auth/react'

export const metadata = { title: 'App', icons: { icon: 'data:,' } }

export default function Layout({ children }: { children: ReactNode }) {
  return (
    <html lang="en">
      <body>
        <SessionProvider>{children}</SessionProvider>
      </body>
    </html>
  )
}
