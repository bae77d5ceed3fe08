// The body of what an endpoint answered to an event; nothing where it answered none.
export const EndpointAnswer = ({ text }: { text: string | null }) =>
  text ? (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a long answer scrolls, also by keyboard
    <pre class="api-keys-answer" tabIndex={0}>
      {text}
    </pre>
  ) : null
