// A quiet place for what is being read. It has a height of its own, so that little moves when the content comes.
export function Loading({ what }: { what: string }) {
  return (
    <div class="loading" role="status">
      <span class="unseen">Loading: {what}</span>
    </div>
  )
}
