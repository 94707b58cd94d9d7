# The manager as one static binary in an empty image.
#   make docker-build IMAGE=registry.example/rollcall:dev
FROM --platform=${BUILDPLATFORM} golang:1.26 AS build
ARG TARGETOS
ARG TARGETARCH
WORKDIR /src

# Dependencies in a layer of their own: they change far less often than the code.
COPY go.mod go.sum ./
RUN go mod download

COPY . .
RUN CGO_ENABLED=0 GOOS=${TARGETOS} GOARCH=${TARGETARCH} \
    go build -trimpath -buildvcs=false -ldflags="-s -w" -o /out/manager ./cmd/manager

FROM scratch
COPY --from=build /out/manager /manager
# A number, so that runAsNonRoot can be checked without a passwd file.
USER 65532:65532
ENTRYPOINT ["/manager"]
