import { createAsync } from '@solidjs/router'
import { Suspense } from 'solid-js'
import { memberName } from '../session'

export default function Protected() {
  const name = createAsync(() => memberName(), { deferStream: true })
  return (
    <Suspense>
      <h1>For {name()}</h1>
    </Suspense>
  )
}
