/** Stand for the card of shadcn/ui. */
import type { ComponentProps, ReactNode } from 'react'

export function Card(props: ComponentProps<'div'>): ReactNode {
  return <div data-slot="card" {...props} />
}
export function CardContent(props: ComponentProps<'div'>): ReactNode {
  return <div data-slot="card-content" {...props} />
}
