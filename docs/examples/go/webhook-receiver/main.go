// Receives webhooks from Countersign. In: a signed event. Out: 204 once the event is accepted. The standard library alone: copy it, and put
// your work into handle.
//
//	cd docs/examples/go
//	WEBHOOK_SECRETS=whsec_… PORT=8080 go run ./webhook-receiver
//
// Separate several secrets by commas. All of them are accepted: give both while you replace one.
package main

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

const maxBodyBytes = 100_000

type event struct {
	ID      string          `json:"id"`
	Type    string          `json:"type"`
	Payload json.RawMessage `json:"payload"`
}

// rawBody is the body as it came, before any JSON parser.
func isGenuine(rawBody []byte, header http.Header, secret string) bool {
	timestamp := header.Get("X-Webhook-Timestamp")
	signature, err := hex.DecodeString(header.Get("X-Webhook-Signature"))
	if err != nil {
		return false
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(timestamp + "."))
	mac.Write(rawBody)
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	isFresh := err == nil && time.Since(time.Unix(seconds, 0)).Abs() <= 5*time.Minute
	return hmac.Equal(signature, mac.Sum(nil)) && isFresh
}

// The work for an event. One that comes again meanwhile waits for it.
type work struct {
	sync.Mutex
	isDone bool
}

// The work for each event, by the event's id. Keep the ids in your database under a unique index, written together with what the event causes.
var works sync.Map

// Your work. Be quick: put the event into a queue, and process it after the response.
func handle(e event) error {
	// The id is signed; the header X-Webhook-Mode, which says the same, is not.
	mode := "live"
	if strings.HasPrefix(e.ID, "evt_test_") {
		mode = "test"
	}
	_, err := fmt.Println(mode, e.Type, string(e.Payload))
	return err
}

func handleOnce(e event) error {
	found, _ := works.LoadOrStore(e.ID, &work{})
	w := found.(*work)
	w.Lock()
	defer w.Unlock()
	if w.isDone {
		return nil
	}
	if err := handle(e); err != nil {
		return err
	}
	// Only now: an event whose handling failed comes again, and must not count as handled.
	w.isDone = true
	return nil
}

func receive(secrets []string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		// The signature is over the raw bytes: JSON that was parsed and serialized again has another signature.
		rawBody, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBodyBytes))
		var tooLarge *http.MaxBytesError
		if errors.As(err, &tooLarge) {
			w.WriteHeader(http.StatusRequestEntityTooLarge)
			return
		}
		for _, secret := range secrets {
			var e event
			if secret == "" || !isGenuine(rawBody, r.Header, secret) || json.Unmarshal(rawBody, &e) != nil {
				continue
			}
			// If your response was late or lost, the event comes again: respond with 2xx again.
			if err := handleOnce(e); err != nil {
				log.Print(err)
				w.WriteHeader(http.StatusInternalServerError)
				return
			}
			w.WriteHeader(http.StatusNoContent)
			return
		}
		w.WriteHeader(http.StatusUnauthorized)
	}
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:"+cmp.Or(os.Getenv("PORT"), "8080"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("listening on port %d\n", listener.Addr().(*net.TCPAddr).Port)
	log.Fatal(http.Serve(listener, receive(strings.Split(os.Getenv("WEBHOOK_SECRETS"), ","))))
}
