<?php
// Receives webhooks from Countersign. In: a signed event. Out: 204 once the event is accepted. Plain PHP 8, no packages: copy it, and put your
// work into `handle`.
//   WEBHOOK_SECRETS=whsec_… php -S 127.0.0.1:8080 webhook-receiver.php
// Separate several secrets by commas. All of them are accepted: give both while you replace one.
declare(strict_types=1);

const MAX_BODY_BYTES = 100_000;
const TOLERANCE_SECONDS = 300;

/** `$rawBody` is the body as it came, before any JSON parser. */
function isGenuine(string $rawBody, string $timestamp, string $signature, string $secret): bool
{
    $isFresh = preg_match('/^\d+\z/', $timestamp) === 1 && abs(time() - (int) $timestamp) <= TOLERANCE_SECONDS;
    return $isFresh && hash_equals(hash_hmac('sha256', "$timestamp.$rawBody", $secret), $signature);
}

/** Your work. Be quick: put the event into a queue, and process it after the response. */
function handle(stdClass $event): void
{
    // The id is signed; the header X-Webhook-Mode, which says the same, is not.
    $mode = str_starts_with($event->id, 'evt_test_') ? 'test' : 'live';
    file_put_contents('php://stdout', "$mode $event->type " . json_encode($event->payload) . "\n");
}

/** A file for each event, which is empty until the event is handled. Keep the ids of yours in your database under a unique index, written
 *  together with what the event causes. */
function handleOnce(stdClass $event): void
{
    $name = sys_get_temp_dir() . '/countersign-' . hash('sha256', $event->id);
    $file = fopen($name, 'c+');
    if ($file === false || !flock($file, LOCK_EX)) {
        throw new RuntimeException("$name cannot be opened.");
    }
    if (fgetc($file) === false) {
        handle($event);
        // Only now: an event whose handling failed comes again, and must not count as handled.
        fwrite($file, '1');
    }
    fclose($file);
}

function receive(): int
{
    // The signature is over the raw bytes: JSON that was parsed and serialized again has another signature.
    $rawBody = (string) file_get_contents('php://input', length: MAX_BODY_BYTES + 1);
    if (strlen($rawBody) > MAX_BODY_BYTES) {
        return 413;
    }
    $timestamp = $_SERVER['HTTP_X_WEBHOOK_TIMESTAMP'] ?? '';
    $signature = $_SERVER['HTTP_X_WEBHOOK_SIGNATURE'] ?? '';
    foreach (array_filter(explode(',', (string) getenv('WEBHOOK_SECRETS'))) as $secret) {
        if (isGenuine($rawBody, $timestamp, $signature, $secret)) {
            $event = json_decode($rawBody, flags: JSON_THROW_ON_ERROR);
            // If your response was late or lost, the event comes again: respond with 2xx again.
            handleOnce($event);
            return 204;
        }
    }
    return 401;
}

// Where PHP displays errors, it answers an error with 200, and the event would not come again.
http_response_code(500);
http_response_code(receive());
